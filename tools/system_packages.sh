#!/usr/bin/env bash
# Debian packages without which some tests are skipped: LaTeX (tables.pdf), Chromium and poppler (the report and the
# tables as pictures), Slurm and munge (one experiment through a real cluster). They are installed only if this needs no
# password: as root, on Debian or its derivatives, within five minutes each. SYSTEM_PACKAGES=no installs nothing.
set -u

missing=()
need() { PATH="$PATH:/usr/sbin" command -v "$1" >/dev/null || missing+=("${@:2}"); }
need pdflatex texlive-latex-recommended
need pdftoppm poppler-utils
command -v chromium >/dev/null || command -v google-chrome >/dev/null || missing+=(chromium)
need slurmctld slurm-wlm
need munged munge
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "${SYSTEM_PACKAGES:-yes}" = no ] || [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "Tests that need ${missing[*]} are left out: install these packages to run them."
  exit 0
fi
echo "Installing ${missing[*]} for the tests that use them ..."
export DEBIAN_FRONTEND=noninteractive
timeout 120 apt-get update -qq >/dev/null 2>&1
for package in "${missing[@]}"; do
  timeout 300 apt-get install -qq -y --no-install-recommends "$package" >/dev/null 2>&1 \
    || echo "$package could not be installed: the tests that need it are left out."
done
exit 0
