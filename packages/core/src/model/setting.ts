/** A setting of this node, as an operator is shown it. */
export const SETTING_SOURCES = ['environment', 'file', 'default'] as const

export interface Setting {
  /** The environment variable that sets it. */
  readonly variable: string
  readonly kind: 'limit' | 'option'
  /** What counts now; null: nothing is set, or it is a secret. */
  readonly value: string | number | null
  /** What counts where nothing is set; null: nothing, or what the meaning says. */
  readonly default: string | number | null
  readonly unit: string | null
  readonly meaning: string
  /** Whether the value is never shown. */
  readonly secret: boolean
  /** `file`: the variable with `_FILE` names a file that has it. */
  readonly source: (typeof SETTING_SOURCES)[number]
}
