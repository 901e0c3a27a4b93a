"use strict";
(() => {
  const { rows, classes, key, command } = JSON.parse(document.getElementById("data").textContent);
  const [FILE, LABEL, SUGGESTED, SCORE, LIKELY, PICTURE] = [0, 1, 2, 3, 4, 5];
  const COLUMNS = ["file", "label", "suggested", "decision", "new_label"];
  const KINDS = ["keep", "relabel", "drop", "unsure"];
  const UNSTORED = "This browser does not store decisions for this page. Export them before you close or reload it.";
  const get = (id) => document.getElementById(id);
  const several = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

  // ---- decisions: the number of a row → [kind] or ["relabel", class]; they survive a reload
  let decisions = new Map();
  let isSafe = true; // what was decided is stored or exported
  const undos = []; // each a list of [row, what it had before]

  function load() {
    const stored = JSON.parse(localStorage.getItem(key) ?? "[]");
    decisions = new Map(stored.filter(([row, [kind, label]]) =>
      rows[row] && KINDS.includes(kind) && (kind === "relabel" ? label in classes : true)));
  }
  function store() {
    try {
      localStorage.setItem(key, JSON.stringify([...decisions]));
    } catch {
      isSafe = false;
      warn(UNSTORED);
    }
  }
  function warn(text) {
    get("banner").textContent = text;
    get("banner").hidden = false;
  }
  const put = (row, value) => (value ? decisions.set(row, value) : decisions.delete(row));

  /** Take several decisions at once, which one undo takes back. */
  function decide(changes) {
    undos.push(changes.map(([row]) => [row, decisions.get(row)]));
    changes.forEach(([row, value]) => put(row, value));
    store();
  }
  function undo() {
    const last = undos.pop();
    if (!last) return;
    last.forEach(([row, before]) => put(row, before));
    store();
    filter(last[0][0]);
    say("Undone.");
  }
  const isAccepted = (row, value) => value?.[0] === "relabel" && value[1] === rows[row][SUGGESTED];
  const words = (row) => {
    const [kind, label] = decisions.get(row) ?? [];
    return { keep: "kept", drop: "dropped", unsure: "unsure", relabel: `→ ${classes[label]}` }[kind] ?? "";
  };

  // ---- what is shown
  let shown = [];
  let at = 0; // place in shown
  let isGrid = false;
  const current = () => shown[at];

  /** Apply the filters and stay at this row, or where it was. */
  function filter(row = current()) {
    const [label, suggested] = get("pair").value ? get("pair").value.split(",").map(Number) : [];
    const [state, likely] = [get("state").value, get("likely").checked];
    shown = [];
    rows.forEach((one, number) => {
      const kind = decisions.get(number)?.[0];
      const fits = (state === "all" || (state === "open" ? !kind : kind === state)) && (!likely || one[LIKELY]);
      if (fits && (label === undefined || (one[LABEL] === label && one[SUGGESTED] === suggested))) shown.push(number);
    });
    const place = shown.findIndex((number) => number >= row); // rows are in order
    at = Math.max(0, place < 0 ? shown.length - 1 : place);
    draw();
  }
  function go(place) {
    at = Math.min(Math.max(place, 0), shown.length - 1);
    draw();
  }
  function draw() {
    const done = decisions.size;
    get("progress").max = rows.length || 1;
    get("progress").value = done;
    get("count").textContent = `${done} of ${rows.length} reviewed`;
    get("undo").disabled = !undos.length;
    get("nothing").hidden = shown.length > 0;
    get("one").hidden = isGrid || !shown.length;
    get("grid").hidden = !isGrid || !shown.length;
    get("one-view").ariaPressed = String(!isGrid);
    get("grid-view").ariaPressed = String(isGrid);
    if (!shown.length) return;
    if (isGrid) {
      reveal();
      drawCards();
    } else drawOne(current());
  }
  const source = (row) => (rows[row][PICTURE] ? `data:image/webp;base64,${rows[row][PICTURE]}` : "");
  function show(image, row) {
    image.alt = `${rows[row][FILE]}, labelled ${classes[rows[row][LABEL]]}`;
    if (source(row)) image.src = source(row);
    else image.removeAttribute("src");
  }
  function drawOne(row) {
    const [file, label, suggested, score, likely] = rows[row];
    const decision = decisions.get(row);
    show(get("picture"), row);
    get("picture").hidden = !source(row);
    get("no-picture").hidden = Boolean(source(row));
    get("place").textContent = `${at + 1} of ${shown.length}`;
    get("mark").hidden = !likely;
    get("given").textContent = get("keep-label").textContent = classes[label];
    get("suggested").textContent = get("accept-label").textContent = classes[suggested];
    get("name").textContent = file;
    get("score").textContent = score === null ? "" : String(Number(score.toPrecision(3)));
    const accepted = isAccepted(row, decision);
    const other = decision?.[0] === "relabel" && !accepted;
    get("other-label").textContent = other ? `: ${classes[decision[1]]}` : "";
    for (const button of document.querySelectorAll(".actions button")) {
      const kind = button.dataset.decision;
      const pressed = { accept: accepted, other }[kind] ?? decision?.[0] === kind;
      button.ariaPressed = String(pressed);
    }
    get("previous").disabled = at === 0;
    get("next").disabled = at === shown.length - 1;
  }

  // ---- the grid: only cards that can be seen exist
  const cards = new Map(); // place in shown → element
  const CAPTION = 52;
  function layout() {
    const style = getComputedStyle(get("grid"));
    const width = get("grid").clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const columns = Math.max(2, Math.floor(width / (width < 560 ? 118 : 172)));
    return { columns, side: width / columns, height: width / columns + CAPTION };
  }
  function reveal() {
    const [{ columns, height }, grid] = [layout(), get("grid")];
    get("cards").style.height = `${Math.ceil(shown.length / columns) * height}px`;
    const top = Math.floor(at / columns) * height;
    if (top < grid.scrollTop) grid.scrollTop = top;
    else if (top + height + 20 > grid.scrollTop + grid.clientHeight) grid.scrollTop = top + height + 28 - grid.clientHeight;
  }
  function drawCards() {
    const [{ columns, side, height }, grid] = [layout(), get("grid")];
    const first = Math.max(0, Math.floor(grid.scrollTop / height) - 2) * columns;
    const end = Math.min(shown.length, (Math.ceil((grid.scrollTop + grid.clientHeight) / height) + 2) * columns);
    for (const [place, card] of cards) {
      if (place >= first && place < end && card.row === shown[place]) continue;
      card.remove();
      cards.delete(place);
    }
    for (let place = first; place < end; place++) {
      let card = cards.get(place);
      if (!card) {
        card = newCard(shown[place]);
        cards.set(place, card);
        get("cards").append(card);
      }
      card.id = `card-${place}`;
      card.ariaSetSize = String(shown.length);
      card.ariaPosInSet = String(place + 1);
      card.ariaSelected = String(place === at);
      card.style.width = `${side}px`;
      card.style.height = `${height}px`;
      card.style.transform = `translate(${(place % columns) * side}px, ${Math.floor(place / columns) * height}px)`;
      const badge = card.querySelector(".badge");
      badge.textContent = words(card.row);
      badge.hidden = !badge.textContent;
      badge.dataset.decision = card.dataset.decision = decisions.get(card.row)?.[0] ?? "";
    }
    grid.setAttribute("aria-activedescendant", `card-${at}`);
  }
  function element(kind, text, name) {
    const made = document.createElement(kind);
    made.textContent = text;
    made.className = name;
    return made;
  }
  function newCard(row) {
    const card = element("div", "", "card");
    const image = document.createElement("img");
    image.decoding = "async";
    show(image, row);
    const [file, label, suggested] = rows[row];
    card.append(image, element("p", `${classes[label]} → ${classes[suggested]}`, "pair"), element("p", file, "quiet"));
    card.append(element("span", "", "badge"));
    card.role = "option";
    card.row = row;
    return card;
  }
  get("grid").addEventListener("scroll", () => requestAnimationFrame(drawCards), { passive: true });
  addEventListener("resize", () => draw());
  get("cards").addEventListener("click", (event) => {
    const card = event.target.closest(".card");
    if (!card) return;
    at = shown.indexOf(card.row);
    setGrid(false);
  });

  // ---- what a reader does
  function setGrid(value) {
    isGrid = value;
    draw();
    if (isGrid && shown.length) get("grid").focus();
  }
  let timer = 0;
  function say(text) {
    get("toast").textContent = text;
    get("toast").classList.add("on");
    clearTimeout(timer);
    timer = setTimeout(() => get("toast").classList.remove("on"), 2500);
  }
  /** Decide on the current row and go on to the next. */
  function answer(kind, label) {
    const row = current();
    if (row === undefined) return;
    const [, given, suggested] = rows[row];
    if (kind === "other") return chooseClass(row);
    const to = kind === "accept" ? suggested : label;
    const value = to === undefined ? [kind] : to === given ? ["keep"] : ["relabel", to];
    decide([[row, value]]);
    say(`${classes[given]}${value[0] === "relabel" ? " " : ": "}${words(row)}${decisions.size === rows.length ? ". All are reviewed: export the decisions." : ""}`);
    filter(row);
    if (current() === row) go(at + 1);
  }
  const steps = () => (isGrid ? layout().columns : 1);
  const KEYS = {
    a: () => answer("accept"),
    k: () => answer("keep"),
    c: () => answer("other"),
    d: () => answer("drop"),
    u: () => answer("unsure"),
    z: undo,
    g: () => setGrid(!isGrid),
    "?": () => get("keys").showModal(),
    ArrowLeft: () => go(at - 1),
    ArrowRight: () => go(at + 1),
    ArrowUp: () => go(at - steps()),
    ArrowDown: () => go(at + steps()),
    Home: () => go(0),
    End: () => go(shown.length - 1),
  };
  addEventListener("keydown", (event) => {
    const { key: name, target } = event;
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && name === "z") KEYS.z();
    else if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    else if (target.matches("select, input:not([type=checkbox])") && target.checkVisibility()) return;
    else if (name === "Enter" && target.id === "grid") setGrid(false);
    else {
      const pressed = name.length === 1 ? get("letters").checked && name.toLowerCase() : name;
      if (!pressed || !Object.hasOwn(KEYS, pressed)) return;
      KEYS[pressed]();
    }
    event.preventDefault();
  });
  for (const button of document.querySelectorAll(".actions button")) {
    button.addEventListener("click", () => answer(button.dataset.decision));
  }
  const onClick = (id, what) => get(id).addEventListener("click", what);
  onClick("previous", () => go(at - 1));
  onClick("next", () => go(at + 1));
  onClick("undo", undo);
  onClick("one-view", () => setGrid(false));
  onClick("grid-view", () => setGrid(true));
  onClick("help", () => get("keys").showModal());
  onClick("menu", () => {
    const isOpen = get("top").classList.toggle("open");
    get("menu").ariaExpanded = String(isOpen);
    draw();
  });
  for (const id of ["pair", "state", "likely"]) get(id).addEventListener("change", () => filter());

  // ---- another class
  const MOST = 200;
  let options = [];
  let chosen = 0;
  function chooseClass(row) {
    get("other").row = row;
    get("search").value = "";
    drawClasses();
    get("other").showModal();
    get("search").focus();
  }
  function drawClasses() {
    const text = get("search").value.trim().toLowerCase();
    const given = rows[get("other").row][LABEL];
    options = classes.map((name, label) => label).filter((label) => label !== given);
    options = options.filter((label) => classes[label].toLowerCase().includes(text)).slice(0, MOST);
    chosen = 0;
    get("classes").replaceChildren(...options.map((label, place) => {
      const item = element("li", classes[label], "");
      item.role = "option";
      item.id = `class-${place}`;
      item.addEventListener("click", () => pick(place));
      return item;
    }));
    markClass();
  }
  function markClass() {
    [...get("classes").children].forEach((item, place) => (item.ariaSelected = String(place === chosen)));
    get("classes").children[chosen]?.scrollIntoView({ block: "nearest" });
    get("search").setAttribute("aria-activedescendant", options.length ? `class-${chosen}` : "");
  }
  function pick(place) {
    if (!(place in options)) return;
    get("other").close();
    answer("relabel", options[place]);
  }
  get("search").addEventListener("input", drawClasses);
  get("search").addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      chosen = Math.min(Math.max(chosen + step, 0), options.length - 1);
      markClass();
    } else if (event.key === "Enter") pick(chosen);
    else return;
    event.preventDefault();
  });

  // ---- decisions.csv; a spreadsheet would take some texts for formulas: to_cell and from_cell of report.py
  const FORMULA = /^[=+\-@\t\r\n']/;
  const cell = (text) => `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
  const plain = (text) => (text.startsWith("'") && FORMULA.test(text.slice(1)) ? text.slice(1) : text);
  function written() {
    const lines = [COLUMNS];
    [...decisions].sort(([a], [b]) => a - b).forEach(([row, [kind, to]]) => {
      const [file, label, suggested] = rows[row];
      lines.push([file, classes[label], classes[suggested], kind, kind === "relabel" ? classes[to] : ""]);
    });
    return `\ufeff${lines.map((line) => line.map(cell).join(",")).join("\r\n")}\r\n`;
  }
  onClick("export", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([written()], { type: "text/csv" }));
    link.download = "decisions.csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    isSafe = true;
    say(`${several(decisions.size, "decision")} written to decisions.csv. ${command}`);
  });

  /** The records of a CSV text, with quotes as RFC 4180 has them; spreadsheets may have written semicolons. */
  function records(text) {
    const separator = /^\ufeff?"?file"?;/.test(text) ? ";" : ",";
    const found = [[""]];
    let quoted = false;
    for (let i = text.startsWith("\ufeff") ? 1 : 0; i < text.length; i++) {
      const [letter, line] = [text[i], found.at(-1)];
      if (quoted && letter === '"' && text[i + 1] === '"') line[line.length - 1] += text[++i];
      else if (letter === '"' && (quoted || line.at(-1) === "")) quoted = !quoted;
      else if (quoted) line[line.length - 1] += letter;
      else if (letter === separator) line.push("");
      else if (letter === "\n") found.push([""]);
      else if (letter !== "\r") line[line.length - 1] += letter;
    }
    return found.filter((line) => line.length > 1 || line[0] !== "");
  }
  function read(text) {
    const [heading = [], ...lines] = records(text);
    const [file, label, , decision, to] = COLUMNS.map((name) => heading.indexOf(name));
    if ([file, label, decision, to].includes(-1)) return warn("This file is no decisions.csv: its first line must name the columns file, label, decision and new_label.");
    const [places, names] = [new Map(rows.map((row, number) => [row[FILE], number])), new Map(classes.map((name, number) => [name, number]))];
    const changes = new Map();
    let unknown = 0;
    for (const line of lines) {
      const row = places.get(plain(line[file] ?? ""));
      const [kind, target] = [line[decision], names.get(plain(line[to] ?? ""))];
      const fits = row !== undefined && classes[rows[row][LABEL]] === plain(line[label] ?? "") && KINDS.includes(kind);
      if (fits && (kind !== "relabel" || target !== undefined)) changes.set(row, kind === "relabel" ? ["relabel", target] : [kind]);
      else unknown++;
    }
    if (changes.size) decide([...changes]);
    filter();
    say(`${several(changes.size, "decision")} read.`);
    if (unknown) warn(`${several(unknown, "line")} of the file could not be used: the file name, its label, the decision or the new class is not one of this page.`);
  }
  onClick("import", () => get("file").click());
  get("file").addEventListener("change", async () => {
    const [file] = get("file").files;
    if (file) read(await file.text());
    get("file").value = "";
  });

  // ---- begin
  const pairs = new Map();
  for (const [, label, suggested] of rows) {
    const pair = `${label},${suggested}`;
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  const all = element("option", `all (${rows.length})`, "");
  all.value = "";
  get("pair").append(all, ...[...pairs].sort((a, b) => b[1] - a[1]).map(([pair, count]) => {
    const [label, suggested] = pair.split(",").map((number) => classes[number]);
    const option = element("option", `${label} → ${suggested} (${count})`, "");
    option.value = pair;
    return option;
  }));
  get("likely-only").hidden = rows.every((row) => row[LIKELY]) || !rows.some((row) => row[LIKELY]);
  try {
    load();
  } catch {
    warn(UNSTORED);
  }
  addEventListener("storage", (event) => { // the same page in another tab
    if (event.key !== key) return;
    load();
    filter();
  });
  addEventListener("beforeunload", (event) => {
    if (!isSafe) event.preventDefault();
  });
  if (!rows.length) get("nothing").textContent = "No label looks wrong.";
  filter(decisions.size ? rows.findIndex((_, row) => !decisions.has(row)) : 0);
})();
