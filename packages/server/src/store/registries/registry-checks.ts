/** What the members of a registry may be; each check throws StoreRefusal with the rule. */
import { isRegType, isTimeZone, KINDS, type Kind } from '@rollcall/protocol'
import { webOriginProblem } from '../../model/web-origin.ts'
import { StoreRefusal } from '../db/refusal.ts'

/** One segment of a path. */
const NAMESPACE = /^[a-z][a-z0-9-]{0,62}$/

/** First segments of paths that are not a registry's; those with a dot are excluded by the form already. */
const RESERVED: ReadonlySet<string> = new Set([
  'admin',
  'assets',
  'console',
  'docs',
  'health',
  'metrics',
  'oauth2',
  'partner',
  'ready',
  'static',
])

export function checkNamespace(namespace: string): void {
  if (!NAMESPACE.test(namespace)) {
    throw new StoreRefusal(
      'a namespace is a lower-case letter, then at most 62 lower-case letters, digits or hyphens',
    )
  }
  if (RESERVED.has(namespace))
    throw new StoreRefusal(`the namespace ${namespace} is reserved; choose another`)
}

export function checkTimeZone(time_zone: string): void {
  if (isTimeZone(time_zone)) return
  throw new StoreRefusal(
    `${JSON.stringify(time_zone)} is no time zone; write one such as Africa/Kigali or UTC`,
  )
}

export function checkWebOrigins(origins: readonly string[]): void {
  for (const origin of origins) {
    const problem = webOriginProblem(origin)
    if (problem !== null) throw new StoreRefusal(`the origin ${JSON.stringify(origin)} ${problem}`)
  }
}

/** A value that means a kind already is no alias: a request for another kind would be answered here. */
export function checkRegTypeAliases(own: Kind, aliases: readonly string[]): void {
  for (const alias of aliases) {
    const which = `the reg_type ${JSON.stringify(alias)}`
    if (!REG_TYPE.test(alias))
      throw new StoreRefusal(`${which} must be letters, digits and the characters _ . : / - of at most 100`)
    const kind = KINDS.find((one) => isRegType(one, alias))
    if (kind === undefined) continue
    throw new StoreRefusal(
      kind.name === own.name
        ? `${which} means this registry without an alias`
        : `${which} means the kind ${kind.name}`,
    )
  }
}

const REG_TYPE = /^[A-Za-z0-9_.:/-]{1,100}$/
