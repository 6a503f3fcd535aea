/** Style of the reference page. Its colours have a contrast of at least 4.5 in both schemes. */
export const style = `
:root {
  color-scheme: light dark;
  --page: light-dark(#fbfaf8, #14161a);
  --raised: light-dark(#ffffff, #1b1e24);
  --line: light-dark(#e4e0d8, #2d323b);
  --text: light-dark(#20242b, #e3e6eb);
  --quiet: light-dark(#5d6470, #a0a8b5);
  --accent: light-dark(#0b5c8a, #7cc4f0);
  --mark: light-dark(#fff1c2, #4a3d10);
  --person: light-dark(#0b5c8a, #7cc4f0);
  --pan: light-dark(#8a4b00, #f0b866);
  --sad: light-dark(#a3201d, #ff9a92);
  --secret: light-dark(#6a2f9c, #d0a6f5);
  --get: light-dark(#0b5c8a, #7cc4f0);
  --post: light-dark(#17683a, #7fd6a0);
  --delete: light-dark(#a3201d, #ff9a92);
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1.25rem; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  display: grid; grid-template-columns: 17rem minmax(0, 1fr);
}
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 2px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--raised); padding: .5rem 1rem; z-index: 3; }
code { font-family: var(--mono); font-size: .87em; overflow-wrap: anywhere; }

.side {
  position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1.25rem 2rem;
  border-right: 1px solid var(--line); font-size: .9rem;
}
.side h1 { font-size: 1.05rem; margin: 0 0 .9rem; letter-spacing: -.01em; }
.side h2 {
  margin: 1.4rem 0 .35rem; font-size: .72rem; font-weight: 600; color: var(--quiet);
  text-transform: uppercase; letter-spacing: .07em;
}
.side ul { list-style: none; margin: 0; padding: 0; }
.side a {
  display: flex; justify-content: space-between; gap: .5rem; padding: .16rem .5rem;
  margin: 0 -.5rem; border-radius: 5px; color: inherit; text-decoration: none;
}
.side a:hover { background: var(--line); }
.side a[aria-current] { color: var(--accent); font-weight: 600; }
.side .count { color: var(--quiet); font-variant-numeric: tabular-nums; font-weight: 400; }
.side [hidden] { display: none; }
input[type=search] {
  width: 100%; padding: .5rem .65rem; font: inherit; color: inherit; background: var(--raised);
  border: 1px solid var(--quiet); border-radius: 7px;
}
.found { min-height: 1.4em; margin: .35rem 0 0; color: var(--quiet); font-size: .82rem; }

main { padding: 2.25rem clamp(1rem, 4vw, 3.5rem) 6rem; max-width: 84rem; }
main > header { max-width: 46rem; margin-bottom: 2.5rem; }
main > header[hidden] { display: none; }
main > header pre {
  margin: 0 0 1.25rem; padding: .8rem 1rem; overflow-x: auto; background: var(--raised);
  border: 1px solid var(--line); border-radius: 8px; line-height: 1.5;
}
main > header h2 { font-size: 1.9rem; line-height: 1.2; letter-spacing: -.02em; margin: 0 0 .75rem; }
section { margin: 0 0 3.25rem; }
section[hidden] { display: none; }
section > h3 { font-size: 1.28rem; letter-spacing: -.01em; margin: 0 0 .2rem; }
section > h3 code { font-size: .72em; color: var(--quiet); font-weight: 400; margin-left: .5rem; }
section > p { margin: 0 0 .8rem; color: var(--quiet); max-width: 46rem; }
.chapter {
  margin: 4.5rem 0 1.75rem; padding-top: 1.1rem; border-top: 2px solid var(--text);
  font-size: 1.5rem; letter-spacing: -.015em;
}

.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 9px; background: var(--raised); }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .5rem .8rem; }
thead th {
  font-size: .76rem; font-weight: 600; color: var(--quiet); white-space: nowrap;
  border-bottom: 1px solid var(--line);
}
tbody tr + tr > * { border-top: 1px solid var(--line); }
tbody tr:target { background: var(--mark); }
tbody th { font-weight: 500; min-width: 13rem; }
section[id^=test-data] tbody th { min-width: 17rem; }
tbody th a { color: inherit; text-decoration: none; }
tbody th a:hover { text-decoration: underline; }
td.meaning { min-width: 17rem; }
td.format { min-width: 13rem; color: var(--quiet); font-size: .9em; }
td small { display: block; margin-top: .2rem; color: var(--quiet); font-size: .87em; }
.number { font-variant-numeric: tabular-nums; white-space: nowrap; }

.tag {
  display: inline-block; padding: 0 .45em; border: 1px solid currentColor; border-radius: 4px;
  font-size: .8rem; line-height: 1.5; white-space: nowrap;
}
.need-R { background: var(--text); color: var(--page); border-color: var(--text); font-weight: 600; }
.need-C { color: var(--text); }
.need-O, .class-none { color: var(--quiet); border-color: transparent; padding-inline: 0; }
.class-person { color: var(--person); }
.class-pan { color: var(--pan); }
.class-sad { color: var(--sad); }
.class-secret { color: var(--secret); }
.GET { color: var(--get); } .POST { color: var(--post); } .DELETE { color: var(--delete); }

.conditions { margin: .8rem 0 0; padding: 0; list-style: none; max-width: 60rem; }
.conditions li { padding: .2rem 0 .2rem 1.1rem; position: relative; }
.conditions li::before { content: "→"; position: absolute; left: 0; color: var(--quiet); }
dl.key { display: grid; grid-template-columns: max-content 1fr; gap: .35rem .9rem; margin: 1rem 0 0; }
dl.key dd { margin: 0; color: var(--quiet); }
.nothing { color: var(--quiet); padding: 1rem 0; }
.nothing[hidden] { display: none; }

@media (max-width: 60rem) {
  body { display: block; }
  .side {
    position: sticky; top: 0; z-index: 2; height: auto; max-height: 60vh; padding: .7rem 1rem;
    background: var(--page); border-right: 0; border-bottom: 1px solid var(--line);
  }
  .side h1 { display: none; }
  .side nav { display: none; }
  .side:focus-within nav { display: block; }
  .found { min-height: 0; }
  html { scroll-padding-top: 5.5rem; }
}
@media print {
  body { display: block; } .side { display: none; } .scroll { overflow: visible; border: 0; }
}
`

/** Filters rows while typing, and marks the visible section. */
export const script = `
const input = document.querySelector('input[type=search]')
const found = document.querySelector('.found')
const nothing = document.querySelector('.nothing')
const sections = [...document.querySelectorAll('main section')].map((section) => ({
  section,
  link: document.querySelector('.side a[href="#' + CSS.escape(section.id) + '"]'),
  rows: [...section.querySelectorAll('tbody tr')].map((row) => ({
    row, text: row.textContent.toLowerCase(),
  })),
  // A table without rows goes with its heading.
  tables: [...section.querySelectorAll('.scroll')].map((table) => {
    const before = table.previousElementSibling
    return { table, title: before?.localName === 'h4' ? before : null }
  }),
}))
const chapters = [...document.querySelectorAll('.chapter, main > header')]
const menus = [...document.querySelectorAll('.side nav ul')]
const total = sections.reduce((sum, { rows }) => sum + rows.length, 0)

function filter() {
  const words = input.value.toLowerCase().split(/\\s+/).filter(Boolean)
  let shown = 0
  for (const { section, link, rows, tables } of sections) {
    let here = 0
    for (const { row, text } of rows) {
      const fits = words.every((word) => text.includes(word))
      row.hidden = !fits
      if (fits) here++
    }
    shown += here
    section.hidden = here === 0
    for (const { table, title } of tables) {
      table.hidden = !table.querySelector('tbody tr:not([hidden])')
      if (title) title.hidden = table.hidden
    }
    if (link) {
      link.parentElement.hidden = here === 0
      link.querySelector('.count').textContent = here
    }
  }
  for (const menu of menus) {
    menu.hidden = !menu.querySelector('li:not([hidden])')
    menu.previousElementSibling.hidden = menu.hidden
  }
  for (const chapter of chapters) chapter.hidden = words.length > 0
  nothing.hidden = shown > 0
  found.textContent = words.length === 0 ? '' : shown + ' of ' + total + ' rows'
}
let waiting
input.addEventListener('input', () => {
  cancelAnimationFrame(waiting)
  waiting = requestAnimationFrame(filter)
})
addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== input) {
    event.preventDefault()
    input.focus()
  } else if (event.key === 'Escape' && document.activeElement === input) {
    input.value = ''
    filter()
  }
})
// A link to a row must lead there even while a search hides it.
addEventListener('hashchange', () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (!target || !target.closest('[hidden]')) return
  input.value = ''
  filter()
  target.scrollIntoView()
})
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const link = sections.find(({ section }) => section === entry.target)?.link
    if (!link || !entry.isIntersecting) continue
    document.querySelector('.side [aria-current]')?.removeAttribute('aria-current')
    link.setAttribute('aria-current', 'true')
  }
}, { rootMargin: '0px 0px -75% 0px' })
for (const { section } of sections) watcher.observe(section)
filter()
`
