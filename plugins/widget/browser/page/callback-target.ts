/** Elements as callbacks of deployed pages take them: a collection of the page's jQuery, else a list. */
type Collection = ArrayLike<Element>

type Page = Window & { jQuery?: (element: Element) => Collection }

/**
 * The `this` of a callback about a field: the field itself, with `$iframe` and `$form` as deployed
 * pages read them. `$form.find(…)` needs the page's own jQuery; `$iframe[0]` works without.
 */
export function callbackTarget<Field extends HTMLElement>(
  field: Field,
): Field & { $iframe: Collection; $form: Collection } {
  const { jQuery } = window as Page
  const collect = (element: Element | null): Collection => {
    if (element === null) return []
    return typeof jQuery === 'function' ? jQuery(element) : [element]
  }
  return Object.assign(field, { $iframe: collect(field), $form: collect(field.closest('form')) })
}
