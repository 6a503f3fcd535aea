import { Html } from '../../http/html.ts'

/** A lamp at dusk over a harbour. */
export const picture =
  new Html(`<svg viewBox="0 0 640 400" role="img" aria-label="A brass lamp with a shade of opal glass" preserveAspectRatio="xMidYMid slice">
<defs>
<linearGradient id="sky" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#20285c"/><stop offset=".62" stop-color="#7a4f8f"/><stop offset="1" stop-color="#f2a07b"/></linearGradient>
<linearGradient id="brass" x1="0" y1="0" x2="1" y2="0"><stop offset="0" stop-color="#8a5a1c"/><stop offset=".45" stop-color="#f4d58d"/><stop offset="1" stop-color="#8f5d1e"/></linearGradient>
<radialGradient id="glow"><stop offset="0" stop-color="#fff3cf" stop-opacity=".95"/><stop offset=".4" stop-color="#ffd98a" stop-opacity=".45"/><stop offset="1" stop-color="#ffd98a" stop-opacity="0"/></radialGradient>
<radialGradient id="glass" cx=".5" cy=".6" r=".7"><stop offset="0" stop-color="#fffdf4"/><stop offset=".7" stop-color="#ffe9b8"/><stop offset="1" stop-color="#f3c877"/></radialGradient>
</defs>
<rect width="640" height="400" fill="url(#sky)"/>
<circle cx="118" cy="84" r="2" fill="#fff" opacity=".8"/><circle cx="214" cy="52" r="1.5" fill="#fff" opacity=".7"/><circle cx="512" cy="66" r="2" fill="#fff" opacity=".8"/><circle cx="566" cy="132" r="1.5" fill="#fff" opacity=".6"/><circle cx="70" cy="150" r="1.5" fill="#fff" opacity=".6"/>
<path d="M0 300c60-26 104-30 158-18s92-8 150-6 96 22 158 10 108-26 174-8v122H0z" fill="#1b2150" opacity=".55"/>
<path d="M0 326h640v74H0z" fill="#151a42"/>
<path d="M60 344h120M240 356h90M430 346h150M120 372h60M360 378h120" stroke="#f2a07b" stroke-opacity=".5" stroke-width="3" stroke-linecap="round"/>
<circle cx="320" cy="170" r="190" fill="url(#glow)"/>
<path d="M232 196c0-62 38-104 88-104s88 42 88 104z" fill="url(#glass)"/>
<rect x="224" y="192" width="192" height="12" rx="6" fill="url(#brass)"/>
<circle cx="320" cy="86" r="10" fill="url(#brass)"/>
<path d="M314 204h12v120h-12z" fill="url(#brass)"/>
<path d="M262 344c0-14 26-24 58-24s58 10 58 24v6H262z" fill="url(#brass)"/>
<path d="M250 350h140v10H250z" rx="5" fill="url(#brass)"/>
</svg>`)
