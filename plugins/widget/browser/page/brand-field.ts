import { cardBrand } from '../fields/card-brands.ts'
import { assetAddress, hasAsset } from './assets.ts'
import { titleOf } from './checkout.ts'
import type { Context } from './context.ts'
import { element, show } from './dom.ts'
import { createGroup, type Group } from './messages.ts'
import { call } from './options.ts'

export type BrandField = {
  readonly group: Group
  /** The logos at the end of the number's field. */
  readonly logos: HTMLElement
  /** Brands that the typed number may be of. */
  readonly detected: (brands: readonly string[]) => void
  readonly value: () => string
  readonly cvvLengths: () => readonly number[]
}

/** The logo of a brand, with its title where no logo is drawn. */
export function logo({ place }: Context, code: string): HTMLElement {
  const name = `brand-${code}.svg`
  const holder = element('span', { class: `wpwl-brand wpwl-brand-card wpwl-brand-${code}` })
  if (!hasAsset(name)) {
    holder.append(titleOf(code))
    holder.classList.add('wpwl-brand-text')
    return holder
  }
  const image = element('img', {
    src: assetAddress(place.base, name),
    alt: titleOf(code),
    width: '38',
    height: '24',
    crossorigin: 'anonymous',
    draggable: 'false',
  })
  holder.append(image)
  return holder
}

/** The choice of the brand: by the number, and by the shopper where two brands are on one card. */
export function createBrandField(
  context: Context,
  accepted: readonly string[],
  changed: () => void,
): BrandField {
  const { options, language } = context
  const { labels } = language.texts
  const isDetected = options.brandDetection !== false
  const select = element('select', {
    class: 'wpwl-control wpwl-control-brand',
    name: 'paymentBrand',
    autocomplete: 'cc-type',
  })
  const group = createGroup('brand', isDetected ? labels.brandChoice : labels.brand, select, {
    showLabel: options.showLabels !== false,
  })
  const logos = element('div', { class: 'wpwl-brands' })
  const pictures = new Map(accepted.map((code) => [code, logo(context, code)]))
  const few = options.style === 'logos' ? accepted : accepted.slice(0, 4)
  logos.append(...few.map((code) => pictures.get(code)!))
  let possible: readonly string[] = []
  let isChosen = false
  let told = ''

  const fillSelect = (codes: readonly string[]) => {
    const kept = select.value
    select.replaceChildren(
      ...(isDetected ? [] : [element('option', { value: '' }, labels.brandPlaceholder)]),
      ...codes.map((code) => element('option', { value: code }, titleOf(code))),
    )
    if (isChosen && codes.includes(kept)) select.value = kept
    else isChosen = false
  }
  const draw = () => {
    const current = select.value
    if (current !== told) call(options.onChangeBrand, window, current)
    told = current
    logos.classList.toggle('wpwl-brands-detected', possible.length > 0)
    for (const [code, picture] of pictures) {
      const isShown =
        options.style === 'logos' || (current === '' ? few.includes(code) : code === current)
      if (isShown && !picture.isConnected) logos.append(picture)
      if (!isShown) picture.remove()
      picture.classList.toggle('wpwl-brand-off', current !== '' && code !== current)
    }
  }
  fillSelect(isDetected ? [] : accepted)
  show(group.element, !isDetected)
  select.addEventListener('change', () => {
    isChosen = select.value !== ''
    group.setError('')
    draw()
    changed()
  })
  return {
    group,
    logos,
    value: () => select.value,
    cvvLengths: () => (select.value === '' ? [] : cardBrand(select.value).cvvLengths),
    detected: (brands) => {
      if (brands.join() === possible.join()) return
      possible = brands
      if (isDetected) {
        // A brand is certain from the fourth digit on, or earlier when no other is possible.
        fillSelect(brands)
        show(group.element, brands.length > 1 && isChoice(brands))
      } else if (!isChosen) select.value = brands[0] ?? ''
      draw()
      changed()
      call(options.onDetectBrand, window, known(brands, select.value), select.value)
    },
  }
}

/**
 * Brands that the page hears of. A domestic brand shares the numbers of its schemes, so only
 * the page's priority or the shopper makes it count; pages stop payments for brands they hear of.
 */
function known(brands: readonly string[], active: string): readonly string[] {
  return brands.filter(
    (code) => code === active || !brands.some((other) => sharesCard(code, other)),
  )
}

/** Brands of one card, in contrast to brands that a number may still become. */
function isChoice(brands: readonly string[]): boolean {
  const [first, ...others] = brands
  return others.some((code) => sharesCard(code, first!) || sharesCard(first!, code))
}

function sharesCard(domestic: string, scheme: string): boolean {
  return cardBrand(domestic).hosts.includes(scheme)
}
