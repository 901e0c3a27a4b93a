"""From finished runs to tables, figures and one HTML page; nothing here imports torch."""
