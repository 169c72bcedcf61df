/** The client secret of a participant of the demo, which stays the same over restarts. */
import type { Participant } from '@rollcall/core/model/participant'
import { isSecretOf } from '@rollcall/participants/directory/secrets'
import { findClient } from '@rollcall/participants/store/participants'
import type { BaseActDeps } from '../act.ts'
import type { HasDatabase } from '../deps.ts'
import { rotateParticipantSecret } from '../participants/participants.ts'

/**
 * Returns the secret in demo.json if the database still accepts it; otherwise makes a new one.
 * @param written the secret in demo.json, as far as it can be read
 */
export async function keepOrRotateClientSecret(
  deps: HasDatabase & BaseActDeps,
  { sender_id, client_id }: Participant,
  written: unknown,
): Promise<string> {
  const client = await findClient(deps.db, client_id)
  if (typeof written === 'string' && isSecretOf(client?.secrets ?? [], written)) return written
  const { client_secret } = await rotateParticipantSecret(deps, { sender_id })
  return client_secret
}
