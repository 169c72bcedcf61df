/** Grants in words, for people. */

import type { explainGrant, listGrants } from '@rollcall/admin/grants/grants'
import type { proposeGrant } from '@rollcall/admin/grants/proposal'
import { grantWords } from '@rollcall/admin/grants/words'
import { stringify } from 'yaml'

type Listed = Awaited<ReturnType<typeof listGrants>>
type Explained = Awaited<ReturnType<typeof explainGrant>>

/** Rows of a table. */
export const grantRows = (grants: Listed) =>
  grants.map(({ sender_id, namespace, version, terms, valid_from, valid_until }) => ({
    sender_id,
    namespace,
    version,
    valid_from,
    valid_until,
    basis: terms.basis,
    operations: names(terms.operations),
  }))

/** Line by line what a grant means; what it allows stands before what it does not. */
export function explanationText(explained: Explained): string {
  const { version, valid_from, valid_until } = explained
  const lines: readonly (readonly [string, string])[] = [
    ['grant', `version ${version}, from ${valid_from}${valid_until === null ? '' : ` until ${valid_until}`}`],
    ...grantWords(explained, { conditions: true }),
  ]
  const width = Math.max(...lines.map(([name]) => name.length)) + 2
  return lines.map(([name, text]) => `${name.padEnd(width)}${text}`).join('\n')
}

const names = (list: 'all' | readonly string[]): string => (list === 'all' ? 'all' : list.join(', '))

type Proposal = Awaited<ReturnType<typeof proposeGrant>>

/** A file for `grant set`; what people should know of it is in comments. */
export function proposalText(sender_id: string, namespace: string, proposal: Proposal): string {
  const { terms, from, days, entries, left_out, unchanged } = proposal
  const comments = [
    `A narrower grant of ${sender_id} in ${namespace}, proposed from ${entries} accounts since ${from}.`,
    `Something was accounted on ${days} of these days. What is used more rarely is not in it: read it before you set it.`,
    ...Object.entries(left_out).map(([name, list]) => `Left out of ${name}: ${list.join(', ')}`),
    `As it is granted now, since accounts say nothing of it: ${unchanged.join(', ')}`,
  ]
  const lines = comments.map((line) => `# ${line.replaceAll(/\s+/g, ' ')}`)
  return `${lines.join('\n')}\n${stringify(terms).trimEnd()}`
}
