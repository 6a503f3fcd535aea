/** The look of a frame before the page says more. A sheet made by a script needs no allowance in the policy. */
const text = `
:root{color-scheme:light dark;background:transparent;-webkit-text-size-adjust:100%}
html,body,#root{height:100%;margin:0}
body{background:transparent;overflow:hidden}
#root{position:relative}
input{box-sizing:border-box;width:100%;height:100%;margin:0;padding:0 14px;border:0;border-radius:0;outline:0;background:transparent;color:inherit;font:400 16px/1.4 system-ui,sans-serif;font-variant-numeric:tabular-nums;appearance:none}
.hidden{position:absolute;width:1px;height:1px;margin:-1px;padding:0;border:0;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.bank{display:block;width:100%;height:100%;border:0;background:#fff}
.bank.hidden{width:1px;height:1px}
#status{position:absolute;inset:0;display:grid;place-items:center;margin:0;padding:24px;font:400 16px/1.5 system-ui,sans-serif;text-align:center;pointer-events:none}
#status[hidden],.slow[hidden]{display:none}
.slow{position:absolute;inset:auto 0 0;margin:0;padding:10px;background:#fff;color:#1b2033;font:400 14px/1.5 system-ui,sans-serif;text-align:center}
.slow button{min-height:44px;padding:0 12px;border:0;background:none;color:#2f4bd8;font:inherit;text-decoration:underline}
@media (forced-colors:active){input{forced-color-adjust:auto}}
`

const sheet = new CSSStyleSheet()
sheet.replaceSync(text)
document.adoptedStyleSheets = [sheet, ...document.adoptedStyleSheets]
