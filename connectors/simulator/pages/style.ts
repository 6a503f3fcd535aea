import { createHash } from 'node:crypto'

/**
 * The look of every page. It fits a frame of 250 × 400 pixels as well as a whole tab, follows the
 * colours of the system, and needs no other file.
 */
export const style = `
:root {
  color-scheme: light dark;
  --page: #eef1f6; --card: #fff; --ink: #16202e; --quiet: #526071; --line: #d7dde6; --field: #76849a;
  --main: #1f5fbf; --main-ink: #fff; --main-over: #194d9b; --soft: #e8f0fc;
  --test: #fff3d1; --test-ink: #5b4200; --bad: #b3261e; --bad-soft: #fdecea; --good: #14612f; --good-soft: #e4f4e9;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #10151d; --card: #1a212c; --ink: #e9eef6; --quiet: #a9b5c6; --line: #313c4c; --field: #7f8da3;
    --main: #8ab8ff; --main-ink: #0b1a30; --main-over: #a9cbff; --soft: #22304a;
    --test: #3d3210; --test-ink: #ffe7a6; --bad: #ffb4ab; --bad-soft: #43201d; --good: #8fdaa8; --good-soft: #17341f;
  }
}
*, *::before, *::after { box-sizing: border-box }
html { -webkit-text-size-adjust: 100% }
body {
  margin: 0; min-height: 100vh; display: flex; flex-direction: column; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif;
}
.test {
  display: flex; gap: .625rem; align-items: center; justify-content: center; padding: .5rem 1rem;
  background: var(--test); color: var(--test-ink); font-size: .875rem; line-height: 1.35;
}
.test strong {
  flex: none; border: 1px solid currentColor; border-radius: .25rem; padding: 0 .375rem;
  font-size: .75rem; letter-spacing: .08em;
}
main { width: 100%; max-width: 27.5rem; margin: auto; padding: 1.5rem 1rem }
.card {
  background: var(--card); border: 1px solid var(--line); border-radius: .875rem; padding: 1.5rem;
  box-shadow: 0 1px 2px rgb(16 24 40 / .05), 0 12px 32px -12px rgb(16 24 40 / .18);
}
.bank { display: flex; align-items: center; gap: .5rem; margin: 0 0 1rem; color: var(--quiet); font-size: .875rem }
.bank svg { flex: none; width: 1.5rem; height: 1.5rem; color: var(--main) }
h1 { margin: 0 0 .5rem; font-size: 1.375rem; line-height: 1.25; font-weight: 650; text-wrap: balance }
p { margin: 0 0 1rem }
dl { margin: 1rem 0; padding: .25rem 1rem; border-radius: .625rem; background: var(--soft) }
dl div { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; padding: .5rem 0 }
dl div + div { border-top: 1px solid var(--line) }
dt { color: var(--quiet); font-size: .875rem; line-height: 1.5rem }
dd { margin: 0; font-weight: 550; overflow-wrap: anywhere; text-align: end }
dd.amount { font-size: 1.125rem; font-weight: 700 }
label { display: block; font-weight: 600; margin-bottom: .25rem }
input {
  width: 100%; min-height: 3rem; padding: .5rem .75rem; font: inherit; font-size: 1.25rem; letter-spacing: .2em;
  color: inherit; background: var(--card); border: 1px solid var(--field); border-radius: .5rem; direction: ltr; text-align: start;
}
[dir=rtl] input { text-align: right }
.hint { margin: .375rem 0 1rem; color: var(--quiet); font-size: .875rem }
.hint bdi { font-weight: 650; color: var(--ink) }
input[aria-invalid=true] { border-color: var(--bad); box-shadow: inset 0 0 0 1px var(--bad) }
.note { margin: 0 0 1rem; padding: .625rem .75rem; border-radius: .5rem; font-size: .9375rem; border-inline-start: 4px solid }
.note.bad { color: var(--bad); background: var(--bad-soft) }
.note.good { color: var(--good); background: var(--good-soft) }
button, .button {
  display: block; width: 100%; min-height: 3rem; padding: .625rem 1rem; border: 1px solid transparent; border-radius: .5rem;
  font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer;
  color: var(--main-ink); background: var(--main);
}
button:hover, .button:hover { background: var(--main-over) }
button.plain { color: var(--main); background: transparent; font-weight: 550 }
button.plain:hover { background: var(--soft) }
.others { display: flex; flex-wrap: wrap; gap: .25rem; margin-top: .5rem }
.others button { flex: 1 1 auto; width: auto }
:focus-visible { outline: 3px solid var(--main); outline-offset: 2px }
details { margin-top: 1rem; border-top: 1px solid var(--line); padding-top: .5rem; font-size: .9375rem }
summary { padding: .5rem 0; font-weight: 600; cursor: pointer; border-radius: .25rem }
details p { margin: .25rem 0 .5rem; color: var(--quiet) }
ul { margin: 0; padding: 0; list-style: none }
li { display: flex; gap: .75rem; padding: .125rem 0 }
li bdi { font-weight: 650; font-variant-numeric: tabular-nums }
@media (max-width: 340px), (max-height: 480px) {
  main { padding: .5rem }
  .card { padding: .875rem; border-radius: .625rem }
  .test { padding: .25rem .5rem; font-size: .8125rem; justify-content: flex-start }
  .bank { margin-bottom: .375rem }
  h1 { font-size: 1.125rem }
  p { margin-bottom: .5rem; font-size: .9375rem }
  dl { margin: .5rem 0; padding: 0 .625rem }
  dl div { padding: .25rem 0 }
}
@media (max-height: 480px) {
  .bank { display: none }
}
@media (prefers-reduced-motion: no-preference) {
  button, .button { transition: background-color .12s }
}
@media (forced-colors: active) {
  .card, dl, .note, button, .button { border: 1px solid ButtonText }
  button.plain { border-color: transparent }
  input[aria-invalid=true] { outline: 2px solid Mark }
}
`

/** The only style that a page may have, by its hash; forms may lead on to any shop. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  // A browser applies this to every address that a form leads to, the merchant's included.
  'form-action http: https:',
].join('; ')
