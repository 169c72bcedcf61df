/** Faults of a page that programs find. */
import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'

/** Faults that axe finds: all of them in light, and those of colours in dark. */
export async function violationsOf(page: Page): Promise<readonly string[]> {
  const found: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    // The page is one document under all of its addresses: axe is loaded into it once, and not for each look.
    const isLoaded = await page.evaluate('typeof axe === "object"')
    const source = isLoaded === true && { axeSource: 'void 0' }
    const axe = new AxeBuilder({ page, ...source }).setLegacyMode(true).options({ resultTypes: ['violations'] })
    if (colorScheme === 'dark') {
      await page.evaluate(MARK_COLOURS)
      axe.include('[data-colours]').withRules('color-contrast')
    }
    const { violations: broken } = await axe.analyze()
    const texts = broken.map(({ id, nodes }) => `${colorScheme} ${id}: ${nodes.map(({ html }) => html).join(' ')}`)
    found.push(...texts.map((text) => text.slice(0, 300)))
  }
  return found
}

/**
 * Marks one text of each colour, size, weight and background. Comparing colours is most of what axe does, and texts that share
 * these pass or fail together: what lies over what is the same in both schemes, and is looked at in light.
 */
const MARK_COLOURS = `{
  const seen = new Set()
  const hasText = (element) =>
    element.matches('input, select, textarea') || [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())
  for (const element of document.querySelectorAll('[data-colours]')) element.removeAttribute('data-colours')
  for (const element of document.querySelectorAll('body *')) {
    if (!hasText(element) || !element.checkVisibility() || element.getBoundingClientRect().width < 2) continue
    const { color, fontSize, fontWeight } = getComputedStyle(element)
    const look = [color, fontSize, fontWeight, element.closest(':disabled, [aria-disabled]') !== null]
    for (let box = element; box !== null; box = box.parentElement) {
      const { backgroundColor, backgroundImage, opacity } = getComputedStyle(box)
      look.push([backgroundColor, backgroundImage, opacity].join().replace('rgba(0, 0, 0, 0),none,1', ''))
    }
    const key = look.filter((part) => part !== '').join()
    if (!seen.has(key)) element.setAttribute('data-colours', '')
    seen.add(key)
  }
}`

/** The tables that are wider than the box in which they scroll can be moved; and how far either leaves the window. */
export const CUT = `[document.documentElement.scrollWidth - document.documentElement.clientWidth,
  ...[...document.querySelectorAll('main table')].flatMap((table) => {
    const boxes = []
    for (let box = table.parentElement; box !== null; box = box.parentElement) boxes.push(box)
    const scrolls = boxes.find((box) => ['auto', 'scroll'].includes(getComputedStyle(box).overflowX))
    const { right } = (scrolls ?? table).getBoundingClientRect()
    const hidden = table.scrollWidth - (scrolls ?? table).scrollWidth
    return right > innerWidth || hidden > 0 ? [table.querySelector('caption')?.textContent ?? 'a table'] : []
  })]`
