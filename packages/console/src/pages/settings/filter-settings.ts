/** Filters the settings, and makes texts of their values. */
import { numberText } from '../../parts/times.ts'
import { LOCALE } from '../../texts/common.ts'

interface FilterableSetting {
  readonly variable: string
  readonly meaning: string
  readonly kind: string
  readonly source: string
}

/** Finds settings that have every word of `text` in the name or meaning, ignoring case, and the kind and source if given. */
export function filterSettings<Setting extends FilterableSetting>(
  settings: readonly Setting[],
  { text = '', kind, source }: Readonly<Record<string, string | undefined>>,
): readonly Setting[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return settings.filter((setting) => {
    const described = `${setting.variable} ${setting.meaning}`.toLowerCase()
    const isKind = kind === undefined || setting.kind === kind
    const isSource = source === undefined || setting.source === source
    return isKind && isSource && words.every((word) => described.includes(word))
  })
}

export function valueText(value: string | number, unit: string | null): string {
  const text = typeof value === 'number' ? numberText(value, LOCALE) : value
  return unit === null ? text : `${text} ${unit}`
}
