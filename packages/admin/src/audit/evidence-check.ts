/** Verifies evidence of audit entries without a database. */

import { checkEvidence, EvidenceFault } from '@rollcall/audit/evidence'
import { AUDIT_KINDS } from '@rollcall/core/model/audit-entry'
import { oneOf } from '@rollcall/protocol'
import Type from 'typebox'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import { closed, orNull, text, wholeNumber } from '../members.ts'

const MessageFacts = orNull(
  closed({
    message_id: orNull(text('Its message_id.')),
    digest: text('SHA-256 of its bytes, in hexadecimal.'),
    kid: orNull(text('Of its signature; null: it is unsigned.')),
    signature: orNull(text('The value of its signature.')),
  }),
)

/**
 * Verifies a bundle of evidence, and returns what its audit entries say.
 * @throws AdminRefusal the evidence is not valid, or is signed with another key than `kid`
 */
export const verifyEvidence = defineAdminFunction(
  {
    input: closed({
      evidence: Type.Unknown({ description: 'The bundle.' }),
      kid: Type.Optional(text('The key that must have signed: its fingerprint, as the registry has published it.')),
    }),
    result: closed({
      kids: Type.Array(Type.String(), { description: 'The keys that signed.' }),
      accounts: Type.Array(
        closed({
          chain: Type.String(),
          sequence: wholeNumber('Number in the chain.'),
          at: text('When it was written.'),
          kind: oneOf(AUDIT_KINDS),
          participant: orNull(Type.String()),
          registry: orNull(Type.String()),
          operation: orNull(Type.String()),
          purpose: orNull(Type.String()),
          basis: orNull(Type.String()),
          records: wholeNumber('Records that left.'),
          request: MessageFacts,
          reply: MessageFacts,
        }),
      ),
    }),
  },
  async (_: object, { evidence, kid }) => {
    const { accounts, kids } = await checkEvidence(evidence).catch((error: unknown) => {
      throw error instanceof EvidenceFault ? new AdminRefusal(error.message, { cause: error }) : error
    })
    const other = kid === undefined ? undefined : kids.find((one) => one !== kid)
    if (other !== undefined) throw new AdminRefusal(`kid: the evidence is signed with another key, ${other}`)
    return {
      kids: [...kids],
      accounts: accounts.map(({ chain, sequence, at, entry }) => {
        const { kind, participant, registry, operation, purpose, basis, records, request, reply } = entry
        return { chain, sequence, at, kind, participant, registry, operation, purpose, basis, records, request, reply }
      }),
    }
  },
)
