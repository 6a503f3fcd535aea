/** The shape of a field that is written with blanks, and holds a value without them. */
export type Shape = {
  /** The characters that count, of any typed or pasted text. */
  readonly clean: (text: string) => string
  /** The value with its blanks. */
  readonly format: (value: string) => string
}

/** Writes a value with blanks at its gaps. */
export function withGaps(value: string, gaps: readonly number[]): string {
  let text = ''
  for (let index = 0; index < value.length; index++) {
    if (gaps.includes(index)) text += ' '
    text += value[index]
  }
  return text
}

/** The place in a formatted text that has this many counting characters before it. */
export function caretAfter(text: string, count: number, clean: (text: string) => string): number {
  let place = 0
  while (place < text.length && clean(text.slice(0, place)).length < count) place++
  return place
}

/**
 * Keeps a field formatted while the shopper types, pastes and deletes, with the caret beside the
 * character it was beside.
 */
export function keepFormatted(
  input: HTMLInputElement,
  shape: Shape,
  changed: (value: string) => void,
): () => void {
  let value = ''
  const rewrite = (event?: Event) => {
    const kind = (event as InputEvent | undefined)?.inputType ?? ''
    const caret = input.selectionStart ?? input.value.length
    let next = shape.clean(input.value)
    let before = shape.clean(input.value.slice(0, caret)).length
    // Deleting a blank alone deletes the character beyond it, otherwise the key would do nothing.
    if (next === value && next !== '') {
      if (kind === 'deleteContentBackward' && before > 0) {
        next = next.slice(0, before - 1) + next.slice(before)
        before--
      }
      if (kind === 'deleteContentForward') next = next.slice(0, before) + next.slice(before + 1)
    }
    value = next
    const text = shape.format(value)
    if (text !== input.value) {
      input.value = text
      if (input.ownerDocument.activeElement === input) {
        const place = caretAfter(text, before, shape.clean)
        // While typing at the end, the caret stands after a blank that was added.
        input.setSelectionRange(place, place)
      }
    }
    changed(value)
  }
  input.addEventListener('input', rewrite)
  return rewrite
}
