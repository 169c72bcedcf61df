/** Texts for people about grants. */

import type { revokeGrant } from '@rollcall/admin/grants/grant-changes'
import type { explainGrant, listGrants } from '@rollcall/admin/grants/grants'
import type { proposeGrant } from '@rollcall/admin/grants/proposal'
import { describeGrant } from '@rollcall/admin/grants/words'
import { CommandError } from './failure.ts'
import { tableFormatter } from './output.ts'

type ListedGrants = Awaited<ReturnType<typeof listGrants>>
type RevokedGrants = Awaited<ReturnType<typeof revokeGrant>>
type GrantExplanation = Awaited<ReturnType<typeof explainGrant>>

/** Makes a function that returns a table of grants as text. @param nothing the text when there is no grant */
export const grantTable = (nothing: string) =>
  tableFormatter<ListedGrants[number]>(
    'sender_id namespace version basis operations valid_from valid_until',
    nothing,
    ({ terms: { basis, operations }, ...grant }) => ({ ...grant, basis, operations: namesText(operations) }),
  )

/** Returns the grants with their terms as YAML, with a comment before each. @throws CommandError there is none */
export async function grantsText(grants: ListedGrants, { sender_id, namespace }: ParticipantAndRegistry): Promise<string> {
  const { stringify } = await import('yaml')
  if (grants.length === 0) throw new CommandError(`${sender_id} has no grant in ${namespace}`)
  const texts = grants.map(({ version, valid_from, terms }) => `# version ${version}, from ${valid_from}\n${stringify(terms)}`)
  return texts.join('\n').trimEnd()
}

export function revokedText(done: RevokedGrants): string {
  const grants = done.revoked === 1 ? '1 grant is' : `${done.revoked} grants are`
  const text = `${grants} revoked: ${done.sender_id} may do nothing in ${done.namespace}`
  return [text, ...suspendedSubscriptionsText(done)].join('\n')
}

/** Says how many subscriptions were suspended, because the participant's grants do not allow them any more; empty for none. */
export const suspendedSubscriptionsText = ({ suspended }: { readonly suspended: number }): readonly string[] =>
  suspended === 0 ? [] : [`${suspended} of its subscriptions ${suspended === 1 ? 'is' : 'are'} suspended: not granted any more`]

/** Returns the meaning of a grant as lines, each with a name and a text: its version and times, then its terms. */
export function explanationText(explained: GrantExplanation): string {
  const { version, valid_from, valid_until } = explained
  const lines: readonly (readonly [string, string])[] = [
    ['grant', `version ${version}, from ${valid_from}${valid_until === null ? '' : ` until ${valid_until}`}`],
    ...describeGrant(explained, { conditions: true }),
  ]
  const width = Math.max(...lines.map(([name]) => name.length)) + 2
  return lines.map(([name, text]) => `${name.padEnd(width)}${text}`).join('\n')
}

const namesText = (list: 'all' | readonly string[]): string => (list === 'all' ? 'all' : list.join(', '))

/** The participant and the registry that a command about grants names. */
interface ParticipantAndRegistry {
  readonly sender_id?: string | undefined
  readonly namespace?: string | undefined
}

type ProposedGrant = Awaited<ReturnType<typeof proposeGrant>>

/** Returns a grant that was proposed from audit entries, as the text of a file for `grant set`, with comments for people. */
export async function proposedGrantText(
  proposal: ProposedGrant,
  { sender_id, namespace }: ParticipantAndRegistry,
): Promise<string> {
  const { stringify } = await import('yaml')
  const { terms, from, days, entries, left_out, unchanged } = proposal
  const comments = [
    `A narrower grant of ${sender_id} in ${namespace}, proposed from ${entries} audit entries since ${from}.`,
    `The participant used its grant on ${days} of these days. Rarer uses are not in the proposal: read it before you set it.`,
    ...Object.entries(left_out).map(([name, list]) => `Left out of ${name}: ${list.join(', ')}`),
    `Granted as before, because audit entries do not show its use: ${unchanged.join(', ')}`,
  ]
  const lines = comments.map((line) => `# ${line.replaceAll(/\s+/g, ' ')}`)
  return `${lines.join('\n')}\n${stringify(terms).trimEnd()}`
}
