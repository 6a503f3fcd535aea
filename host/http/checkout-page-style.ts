import { createHash } from 'node:crypto'
import { Html } from './html.ts'

/** Logical sides, so that pages of both directions share it. */
const css = `
*,*::before,*::after{box-sizing:border-box}
:root{color-scheme:light dark;--ground:#f3f4f8;--paper:#fff;--ink:#15192c;--soft:#555b73;--line:#d5d8e3;--edge:#7f869f;
--accent:#3437b5;--accent-deep:#26288f;--on-accent:#fff;--wash:#eef0fd;--wrong:#b3171f;--wrong-wash:#fdf0f0;
--good:#11663f;--good-wash:#e9f7f0;--test:#7a4a00;--test-wash:#fff3d6;--shadow:0 1px 2px #15192c14,0 12px 32px -12px #15192c33}
@media (prefers-color-scheme:dark){:root{--ground:#0f1220;--paper:#191d30;--ink:#eef0fa;--soft:#a9afc6;--line:#333951;--edge:#767d98;
--accent:#a3a9ff;--accent-deep:#c0c4ff;--on-accent:#11143a;--wash:#23284a;--wrong:#ff9d9d;--wrong-wash:#3a2029;
--good:#83dcb0;--good-wash:#16352a;--test:#ffd27d;--test-wash:#3b2f14;--shadow:none}}
html{font:100%/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;background:var(--ground);color:var(--ink);
-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;min-height:100vh;min-height:100dvh;display:flex;flex-direction:column;align-items:center;padding:1.5rem 1rem 2rem}
.test{margin:-1.5rem -1rem 1.5rem;align-self:stretch;text-align:center;padding:.5rem 1rem;font-size:.875rem;font-weight:600;
background:var(--test-wash);color:var(--test)}
main{width:100%;max-width:27rem;margin-block:auto}
.sheet{background:var(--paper);border:1px solid var(--line);border-radius:1rem;box-shadow:var(--shadow);padding:1.75rem 1.5rem}
h1{font-size:1rem;line-height:1.4;font-weight:500;color:var(--soft);margin:0}
.merchant{font-weight:600;margin:0 0 .75rem;overflow-wrap:anywhere}
.merchant small{display:block;font-weight:400;font-size:.875rem;color:var(--soft)}
.amount{font-size:2.25rem;line-height:1.2;font-weight:680;letter-spacing:-.02em;margin:.125rem 0 1.5rem;font-variant-numeric:tabular-nums;
overflow-wrap:anywhere}
h1.alone{font-size:1.5rem;font-weight:680;color:var(--ink);margin-block-end:1.25rem}
h2{font-size:1rem;font-weight:650;margin:1.5rem 0 .75rem}
.notice{border-radius:.625rem;padding:.75rem 1rem;margin:0 0 1.25rem;border-inline-start:4px solid;background:var(--wash);color:var(--ink);
border-color:var(--accent)}
.notice.wrong{background:var(--wrong-wash);color:var(--wrong);border-color:var(--wrong)}
.notice.good{background:var(--good-wash);color:var(--good);border-color:var(--good);margin-block-end:0}
.field{margin-block-end:1.125rem}
.over{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:center;gap:.375rem .75rem;margin-block-end:.375rem}
.over label{margin:0}
.logos{display:flex;flex-wrap:wrap;gap:.25rem}
svg.logo{flex:none;width:2.125rem;height:auto;border-radius:.25rem;outline:1px solid var(--line);outline-offset:-1px}
.others summary{justify-content:center;text-decoration:underline;text-underline-offset:.2em;font-weight:500;border-radius:.5rem}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));column-gap:1rem}
label{display:block;font-size:.9375rem;font-weight:600;margin-block-end:.375rem}
input,select{font:inherit;width:100%;min-height:3rem;padding:.625rem .875rem;color:var(--ink);background:var(--paper);
border:1px solid var(--edge);border-radius:.625rem;appearance:none}
fieldset{border:0;padding:0;margin:0 0 1.125rem}
legend{padding:0;font-weight:650;margin-block-end:.75rem}
fieldset .field:last-child{margin-block-end:0}
select{padding-inline-end:2.5rem;background-image:linear-gradient(45deg,#0000 38%,var(--soft) 40% 60%,#0000 62%),linear-gradient(-45deg,#0000 38%,var(--soft) 40% 60%,#0000 62%);
background-position:calc(100% - 1.4375rem) 50%,calc(100% - 1rem) 50%;background-size:.5rem .5rem;background-repeat:no-repeat;text-overflow:ellipsis}
[dir=rtl] select{background-position:1rem 50%,1.4375rem 50%}
.check{display:flex;align-items:center;gap:.75rem;min-height:2.75rem;margin-block-end:1.125rem}
.check label{flex:1;margin:0;padding-block:.625rem;font-weight:500}
.check input{appearance:auto;flex:none;width:1.5rem;min-height:1.5rem;margin:0;accent-color:var(--accent)}
input.digits{font-variant-numeric:tabular-nums;letter-spacing:.02em}
[dir=rtl] input.digits{text-align:right}
input::placeholder{color:var(--soft);opacity:1}
input:focus-visible,select:focus-visible,button:focus-visible,summary:focus-visible,a:focus-visible{outline:3px solid var(--accent);
outline-offset:2px}
[aria-invalid=true]{border:2px solid var(--wrong)}
.hint{display:block;font-size:.875rem;color:var(--soft);margin-block-start:.375rem}
.error{display:block;font-size:.875rem;font-weight:600;color:var(--wrong);margin-block-start:.375rem}
button{font:inherit;font-size:1.0625rem;font-weight:650;width:100%;min-height:3.25rem;padding:.75rem 1rem;border:1px solid transparent;
border-radius:.75rem;background:var(--accent);color:var(--on-accent);cursor:pointer}
button:hover{background:var(--accent-deep)}
button.quiet{background:var(--paper);color:var(--ink);border-color:var(--edge);margin-block-end:.625rem}
button.quiet{display:flex;align-items:center;justify-content:center;gap:.75rem}
button.quiet:hover{background:var(--wash)}
@media (prefers-reduced-motion:no-preference){button{transition:background-color .15s}}
.methods{border:1px solid var(--line);border-radius:.75rem;overflow:clip;margin-block-end:1.25rem}
.methods details+details{border-block-start:1px solid var(--line)}
summary{cursor:pointer;list-style:none;display:flex;align-items:center;gap:.75rem;min-height:3.25rem;padding:.75rem 1rem;font-weight:600}
summary::-webkit-details-marker{display:none}
.methods summary:focus-visible{outline-offset:-3px;border-radius:.75rem}
.methods summary::before{content:"";flex:none;width:1.125rem;height:1.125rem;border:2px solid var(--edge);border-radius:50%}
.methods details[open]>summary::before{border:.375rem solid var(--accent)}
.methods details[open]>summary{background:var(--wash)}
.methods summary small{display:block;font-weight:400;font-size:.875rem;color:var(--soft)}
.methods form{padding:1rem}
.mandate{font-size:.875rem;color:var(--soft);margin:0 0 1.125rem}
.unseen{position:absolute;width:1px;height:1px;border:0;opacity:0;pointer-events:none}
.more{text-align:center;margin:1.25rem 0 0}
a{color:var(--accent);text-underline-offset:.2em}
a.button{display:flex;align-items:center;justify-content:center;min-height:3.25rem;margin-block-start:1.25rem;border-radius:.75rem;font-weight:650;
text-decoration:none;background:var(--accent);color:var(--on-accent)}
a.button:hover{background:var(--accent-deep)}
footer{width:100%;max-width:27rem;margin-block-start:1.25rem;font-size:.875rem;color:var(--soft);text-align:center}
footer p{margin:0 0 .25rem}
.languages summary{display:inline-flex;min-height:2.75rem;padding:.5rem .75rem;font-weight:500;text-decoration:underline;text-underline-offset:.2em;
border-radius:.5rem}
.languages ul{list-style:none;margin:0;padding:0;display:flex;flex-wrap:wrap;justify-content:center}
.languages a{display:flex;align-items:center;min-height:2.75rem;padding:0 .75rem}
@media (max-width:22rem){body{padding-inline:.5rem}.test{margin-inline:-.5rem}.sheet{padding:1.25rem 1rem}.amount{font-size:1.875rem}}
@media (forced-colors:active){.sheet,.methods,.notice{border:1px solid}button,button:hover,button.quiet,a.button{background:ButtonFace;color:ButtonText;
border:1px solid ButtonText;transition:none}.methods details[open]>summary::before{border-color:Highlight}}
@media print{.languages,.test{display:none}}
`

export const style = new Html(`<style>${css}</style>`)

/** The hash of the style for a content policy. */
export const styleHash = `'sha256-${createHash('sha256').update(css).digest('base64')}'`
