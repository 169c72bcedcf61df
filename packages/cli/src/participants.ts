/** A participant that a command is about. */
import { type Database, findParticipant, type Participant } from '@rollcall/server'
import { CommandError } from './failure.ts'

/** @throws CommandError there is none */
export async function participantNamed(db: Database, sender_id: string): Promise<Participant> {
  const participant = await findParticipant(db, sender_id)
  if (participant === null) throw new CommandError(`no participant has sender_id ${sender_id}`)
  return participant
}
