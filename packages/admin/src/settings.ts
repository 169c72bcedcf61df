/** Every limit and option of a node, with the source of its value. */

import { SETTING_SOURCES, type Setting } from '@rollcall/core/model/setting'
import { oneOf } from '@rollcall/protocol'
import Type from 'typebox'
import { defineAdminFunction } from './admin-function.ts'
import { closed, flag, NO_INPUT, orNull, text } from './members.ts'

const Value = (description: string) => Type.Union([Type.String(), Type.Number(), Type.Null()], { description })

export interface HasSettings {
  /** The settings of this node, read at its start. */
  readonly settings: readonly Setting[]
}

/** Lists the settings of the node that answers. Secrets have no value here. */
export const listSettings = defineAdminFunction(
  {
    input: NO_INPUT,
    result: Type.Array(
      closed({
        variable: text('The environment variable that sets it.'),
        kind: oneOf(['limit', 'option'], { description: 'limit: a number with a range.' }),
        value: Value('What counts now; null: nothing is set, or it is a secret.'),
        default: Value('What counts where nothing is set; null: nothing, or what the meaning says.'),
        unit: orNull(text('Of the value.')),
        meaning: text('What it is for.'),
        secret: flag('Whether its value is never shown.'),
        source: oneOf(SETTING_SOURCES, { description: 'file: the variable with _FILE at its end names a file that has it.' }),
      }),
    ),
  },
  async ({ settings }: HasSettings) => [...settings],
)
