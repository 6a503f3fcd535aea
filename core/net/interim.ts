/** As long as the interim answers of all versions: `HTTP/1.1 100`. */
const startBytes = 12
const start = 'HTTP/1.1 1'
const maxHeld = 16_384

/**
 * Removes interim responses (100 Continue, hints) from a connection's bytes. Old servers send 100
 * without a request for it. A client must tolerate that, but undici closes the connection, and each
 * charge would need an enquiry.
 */
export class InterimAnswers {
  #isBeforeAnswer = false
  #held: Buffer | undefined

  /** A request is about to be sent on the connection. */
  expectAnswer(): void {
    this.#isBeforeAnswer = true
    this.#held = undefined
  }

  /** The remaining bytes of the read; undefined while none remain. */
  without(chunk: Buffer): Buffer | undefined {
    if (!this.#isBeforeAnswer) return chunk
    let rest = this.#held === undefined ? chunk : Buffer.concat([this.#held, chunk])
    this.#held = undefined
    while (rest.length > 0) {
      if (!mayBeInterim(rest)) {
        this.#isBeforeAnswer = false
        return rest
      }
      const end = rest.length < startBytes ? -1 : rest.indexOf('\r\n\r\n')
      if (end === -1) {
        // Headers without end are for the client to refuse.
        if (rest.length > maxHeld) return rest
        this.#held = rest
        return undefined
      }
      rest = rest.subarray(end + 4)
    }
    return undefined
  }
}

/** Switching protocols is none: nothing follows it that could be read. */
function mayBeInterim(bytes: Buffer): boolean {
  const text = bytes.toString('latin1', 0, startBytes)
  return text.slice(0, start.length) === start.slice(0, text.length) && !text.endsWith(' 101')
}
