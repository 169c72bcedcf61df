/** The demo participant's client secret: made once, the same over restarts. */
import {
  addSecret,
  type Database,
  findClient,
  isSecretOf,
  newSecret,
  type Participant,
} from '@rollcall/server'

/**
 * The secret that was written down, where the database still takes it; else a new one.
 * @param written what demo.json says, as far as it can be read
 */
export async function demoSecret(db: Database, participant: Participant, written: unknown): Promise<string> {
  const client = await findClient(db, participant.client_id)
  if (typeof written === 'string' && isSecretOf(client?.secrets ?? [], written)) return written
  const { secret, sha256 } = newSecret()
  await addSecret(db, participant, sha256)
  return secret
}
