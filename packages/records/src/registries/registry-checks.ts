/** Checks the settings of a registry, such as its time zone. Each function throws a StoreRefusal that states the rule. */

import { webOriginProblem } from '@rollcall/core/model/web-origin'
import { StoreRefusal } from '@rollcall/database/refusal'
import { isRegType, isTimeZone, type Kind, kindNamed } from '@rollcall/protocol'

/** The form of a namespace: one segment of a path. */
const NAMESPACE_PATTERN = /^[a-z][a-z0-9-]{0,62}$/

/** Path segments that the server uses for other things. Names with a dot need not be listed: a namespace has no dot. */
const RESERVED_NAMESPACES: ReadonlySet<string> = new Set([
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
  if (!NAMESPACE_PATTERN.test(namespace)) {
    throw new StoreRefusal('a namespace is a lower-case letter, then at most 62 lower-case letters, digits or hyphens')
  }
  if (RESERVED_NAMESPACES.has(namespace)) throw new StoreRefusal(`the namespace ${namespace} is reserved; choose another`)
}

export function checkTimeZone(time_zone: string): void {
  if (isTimeZone(time_zone)) return
  throw new StoreRefusal(`${JSON.stringify(time_zone)} is no time zone; write one such as Africa/Kigali or UTC`)
}

export function checkWebOrigins(origins: readonly string[]): void {
  for (const origin of origins) {
    const problem = webOriginProblem(origin)
    if (problem !== null) throw new StoreRefusal(`the origin ${JSON.stringify(origin)} ${problem}`)
  }
}

/**
 * Checks the `reg_type` aliases that an operator adds to a registry: their characters, and that the kind does not have the same
 * value already. Other registries may use the same aliases.
 * @param own the kind of the registry
 */
export function checkRegTypeAliases(own: Kind, aliases: readonly string[]): void {
  const literal = kindNamed(own.name) ?? own
  for (const alias of aliases) {
    const which = `the reg_type ${JSON.stringify(alias)}`
    if (!REG_TYPE_PATTERN.test(alias))
      throw new StoreRefusal(`${which} must be letters, digits and the characters _ . : / - of at most 100`)
    if (isRegType(literal, alias)) throw new StoreRefusal(`${which} means this registry without an alias`)
  }
}

const REG_TYPE_PATTERN = /^[A-Za-z0-9_.:/-]{1,100}$/
