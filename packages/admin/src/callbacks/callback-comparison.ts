/** Compares a change of callback settings with the stored ones, for a second operator. */
import type { CallbackSettings } from '@rollcall/participants/store/participant-callbacks'

/** The settings that a call gives, without the participant that they belong to. */
interface CallbackChange extends Partial<Record<'origin' | 'token_url' | 'client_id' | 'scope', string | undefined>> {
  readonly allow?: readonly string[] | undefined
  readonly disallow?: readonly string[] | undefined
  readonly auth?: string | undefined
  readonly default_url?: string | null | undefined
  readonly notify_url?: string | null | undefined
  readonly [other: string]: unknown
}

/** True when a change adds an address that is not stored, or sets credentials. */
export function isWiderCallbackChange(stored: CallbackSettings, { allow = [], auth, ...given }: CallbackChange) {
  const isNew = (name: 'default_url' | 'notify_url'): boolean => (given[name] ?? stored[name]) !== stored[name]
  if (auth !== undefined && auth !== 'none') return true
  return isNew('default_url') || isNew('notify_url') || allow.some((address) => !stored.allowed.includes(address))
}

/** The stored and the wanted settings for the diff, without secrets. */
export function callbackComparison({ sealed, ...stored }: CallbackSettings, given: CallbackChange) {
  const { allow = [], disallow = [], auth, origin, token_url, client_id, scope, ...others } = given
  const { token: _, client_secret: __, cert: ___, key: ____, ...plain } = others
  const added = allow.filter((address) => !stored.allowed.includes(address))
  const credentials = auth === undefined || auth === 'none' ? undefined : { origin, token_url, client_id, scope }
  const allowed = added.length + disallow.length === 0 ? undefined : { allow: added, disallow }
  return {
    stored: { ...stored, ...(sealed !== null && { credentials: 'given' }) },
    wanted: { allowed, ...plain, auth, credentials },
  }
}
