/** Makes an element. Texts are set as text, never as markup. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  made.append(...children)
  return made
}

/** Shows or hides an element, whatever the styles of the page say about `hidden`. */
export function show(shown: HTMLElement, isShown: boolean): void {
  shown.hidden = !isShown
  if (isShown) shown.style.removeProperty('display')
  else shown.style.setProperty('display', 'none', 'important')
}

const unseen: Readonly<Record<string, string>> = {
  position: 'absolute',
  width: '1px',
  height: '1px',
  margin: '-1px',
  padding: '0',
  border: '0',
  overflow: 'hidden',
  'clip-path': 'inset(50%)',
  'white-space': 'nowrap',
}

/** Leaves an element to screen readers alone, also on pages that load no styles of ours. */
export function hideFromView<Hidden extends HTMLElement>(hidden: Hidden): Hidden {
  for (const [name, value] of Object.entries(unseen)) {
    hidden.style.setProperty(name, value, 'important')
  }
  return hidden
}
