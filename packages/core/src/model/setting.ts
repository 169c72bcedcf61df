/** The places from which the value of a setting can come. */
export const SETTING_SOURCES = ['environment', 'file', 'default'] as const

/** A setting of this node, as operators see it. */
export interface Setting {
  /** The environment variable that sets the value. */
  readonly variable: string
  readonly kind: 'limit' | 'option'
  /** The current value, which may be the default; null when there is none, or when it is secret. */
  readonly value: string | number | null
  /** The value when nothing is set; null when there is none, or when `meaning` describes it. */
  readonly default: string | number | null
  readonly unit: string | null
  readonly meaning: string
  /** True when the value is secret, and is never shown. */
  readonly secret: boolean
  /** Where the value comes from. `file`: from the file that `…_FILE` names, or the program that `…_COMMAND` names. */
  readonly source: (typeof SETTING_SOURCES)[number]
}
