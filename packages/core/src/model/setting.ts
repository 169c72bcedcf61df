/** A setting of this node, as operators see it. */
export const SETTING_SOURCES = ['environment', 'file', 'default'] as const

export interface Setting {
  /** The environment variable that sets it. */
  readonly variable: string
  readonly kind: 'limit' | 'option'
  /** The value in use; null: nothing is set, or it is a secret. */
  readonly value: string | number | null
  /** The value when nothing is set; null: none, or as the meaning says. */
  readonly default: string | number | null
  readonly unit: string | null
  readonly meaning: string
  /** Whether the value is never shown. */
  readonly secret: boolean
  /** `file`: the variable with the suffix `_FILE` names a file with the value. */
  readonly source: (typeof SETTING_SOURCES)[number]
}
