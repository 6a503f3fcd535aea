/** The look of the demo shop. */
export const css = `
*,*::before,*::after{box-sizing:border-box}
:root{color-scheme:light dark;--ground:#f7f5f1;--paper:#fff;--ink:#1d1b26;--soft:#5d586b;--line:#e2dcd2;--edge:#8b8496;--accent:#3437b5;
--wash:#f2effa;--good:#11663f;--good-wash:#e7f6ee;--wrong:#a3161e;--wrong-wash:#fdeeee;--wait:#7a4a00;--wait-wash:#fff3d6;--code:#f4f1ec}
@media (prefers-color-scheme:dark){:root{--ground:#12111a;--paper:#1c1b27;--ink:#f1eff8;--soft:#b3adc4;--line:#34313f;--edge:#7c768c;--accent:#a9aeff;
--wash:#28263a;--good:#83dcb0;--good-wash:#16352a;--wrong:#ff9d9d;--wrong-wash:#3a2029;--wait:#ffd27d;--wait-wash:#3b2f14;--code:#14131d}}
html{font:100%/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;background:var(--ground);color:var(--ink);
-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0}
.top{display:flex;align-items:center;gap:.75rem;padding:1rem clamp(1rem,4vw,3rem);border-bottom:1px solid var(--line);background:var(--paper)}
.name{font-family:Georgia,"Noto Serif",serif;font-size:clamp(1.125rem,5vw,1.375rem);font-weight:700;color:var(--ink);text-decoration:none;letter-spacing:-.01em}
.tag{white-space:nowrap;font-size:.8125rem;font-weight:600;padding:.125rem .625rem;border-radius:1rem;background:var(--wait-wash);color:var(--wait)}
main{max-width:72rem;margin:0 auto;padding:clamp(1rem,3vw,2.5rem) clamp(.5rem,4vw,3rem) 4rem;display:grid;gap:clamp(1rem,2.5vw,2rem)}
.basket{grid-template-columns:minmax(0,1fr);align-items:start}
@media (min-width:60rem){.basket{grid-template-columns:minmax(0,1.2fr) minmax(0,1fr)}}
.column{display:grid;gap:inherit;min-width:0}
section,aside{background:var(--paper);border:1px solid var(--line);border-radius:1rem;padding:clamp(1rem,2.5vw,1.75rem);min-width:0}
.order{padding:0;overflow:clip}
.wpwl-widget{max-width:none}
.picture svg{display:block;width:100%;height:auto;aspect-ratio:16/9}
.line{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:baseline;gap:.25rem 1.5rem;padding:1.25rem clamp(1rem,2.5vw,1.75rem)}
h1{font-family:Georgia,"Noto Serif",serif;font-size:1.625rem;line-height:1.25;letter-spacing:-.01em;margin:0}
.line p{margin:.125rem 0 0;color:var(--soft)}
.line .price{font-size:1.5rem;font-weight:680;color:var(--ink);font-variant-numeric:tabular-nums}
h2{font-size:1.125rem;line-height:1.35;margin:0 0 .75rem}
p{margin:0 0 .75rem}
.soft,.else{color:var(--soft);font-size:.9375rem}
.else{margin:1.25rem 0 0}
a{color:var(--accent);text-underline-offset:.2em}
a:focus-visible,summary:focus-visible,button:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.remember{display:flex;align-items:center;gap:.5rem}
details{border-top:1px solid var(--line)}
summary{cursor:pointer;min-height:2.75rem;padding:.625rem 0;font-weight:600}
.cards{list-style:none;margin:0 0 1rem;padding:0;display:grid;gap:.25rem}
.cards li{display:grid;grid-template-columns:13rem minmax(0,1fr);align-items:center;gap:.125rem .75rem}
@media (max-width:30rem){.cards li{grid-template-columns:minmax(0,1fr)}}
.cards span{color:var(--soft);font-size:.875rem}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Noto Sans Mono",monospace;font-size:.875rem}
.cards button{font:inherit;color:inherit;background:var(--code);border:1px solid var(--line);border-radius:.5rem;padding:.25rem .625rem;min-height:2.25rem;
cursor:copy;white-space:nowrap;justify-self:start}
.cards button:hover{border-color:var(--edge)}
.cards button.copied{border-color:var(--good);color:var(--good)}
.cards button.copied::after{content:" ✓"}
#copied{position:sticky;inset-block-start:0;background:var(--paper)}
pre{background:var(--code);border:1px solid var(--line);border-radius:.625rem;padding:.875rem 1rem;margin:0 0 .75rem;white-space:pre-wrap;overflow-wrap:anywhere}
.languages{list-style:none;margin:0 0 1rem;padding:0;display:flex;flex-wrap:wrap;gap:.25rem .25rem}
.languages a{display:flex;align-items:center;min-height:2.25rem;padding:0 .625rem;border-radius:.5rem}
.languages [aria-current]{background:var(--wash);font-weight:650}
.both{display:grid;gap:inherit}
@media (min-width:60rem){.both{grid-template-columns:repeat(2,minmax(0,1fr));align-items:start}}
.verdict{border-width:0;border-inline-start:.375rem solid}
.verdict code{font-weight:650}
.verdict.paid{background:var(--good-wash);border-color:var(--good)}.verdict.paid h1{color:var(--good)}
.verdict.declined{background:var(--wrong-wash);border-color:var(--wrong)}.verdict.declined h1{color:var(--wrong)}
.verdict.pending{background:var(--wait-wash);border-color:var(--wait)}.verdict.pending h1{color:var(--wait)}
.verdict h1{margin-bottom:.5rem}
.ways{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin:0}
.ways a{color:inherit;font-weight:600;min-height:1.75rem}
@media (prefers-reduced-motion:no-preference){.cards button{transition:border-color .15s}}
`
