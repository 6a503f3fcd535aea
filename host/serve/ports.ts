const usualPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

/** The ports of URLs: where one names none, the usual one, which for a database is 5432. */
export const portsIn = (urls: readonly (string | undefined)[]): number[] =>
  urls.flatMap((text) => {
    const url = text === undefined ? null : URL.parse(text)
    return url === null ? [] : [Number(url.port) || (usualPorts[url.protocol] ?? 5432)]
  })
