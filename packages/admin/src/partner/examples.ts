/** An example of a first search, about no real person, for each registry where the participant may search. */

import { isNameGranted } from '@rollcall/core/model/grant'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import { readStoredGrant } from '@rollcall/core/policy/grant'
import { searchAsCurl, searchAsTypeScript } from '@rollcall/participants/programs/curl-and-typescript'
import { searchAsJava, searchAsPython } from '@rollcall/participants/programs/python-and-java'
import { findGrant } from '@rollcall/participants/store/grants'
import { findSigningKey } from '@rollcall/participants/store/participant-keys'
import { operation, operationsOf, PROTOCOL_VERSION } from '@rollcall/protocol'
import { listRegistries } from '@rollcall/records/registries/registries'
import Type from 'typebox'
import { defineAdminFunction } from '../admin-function.ts'
import { closed, flag, Namespace, NO_INPUT, text } from '../members.ts'
import { requireParticipant } from '../participants/participants.ts'
import { makeTrialEnvelope } from '../try/envelope.ts'
import type { PartnerDeps } from './partner.ts'

/** The placeholder where no synthetic person is known: the reader replaces it by an identifier. */
const VALUE_PLACEHOLDER = 'IDENTIFIER'

export const listExampleSearches = defineAdminFunction(
  {
    input: NO_INPUT,
    result: Type.Array(
      closed({
        namespace: Namespace,
        title: text('Of its kind of registry.'),
        path: text('Path of the request, at the address of this server.'),
        must_sign: flag('Whether the search is refused without a signature: the commands do not sign.'),
        curl: text('Commands for a shell that send it unsigned; REGISTRY, CLIENT_ID and CLIENT_SECRET are set before.'),
        typescript: text('The same search with @rollcall/client, which signs it.'),
        python: text('The same search with rollcall.py, which signs it.'),
        java: text('The same search with Rollcall.java, which signs it.'),
      }),
    ),
  },
  async ({ db, clock, sender_id, sampleOf }: PartnerDeps) => {
    const participant = await requireParticipant(db, sender_id)
    const registries = await listRegistries(db)
    const granted = await Promise.all(registries.map((registry) => maySearch(db, participant, registry)))
    const must_sign = participant.signature_policy === 'required'
    const key = await findSigningKey(db, participant, new Date(clock.date()))
    const signs = { participant, kid: key?.kid ?? null }
    return registries
      .filter((_, at) => granted[at])
      .map((registry) => ({ ...exampleSearchOf(registry, signs, sampleOf(registry.namespace)), must_sign }))
  },
)

async function maySearch(db: PartnerDeps['db'], participant: Participant, registry: Registry) {
  const stored = await findGrant(db, participant.id, registry.id)
  const grant = stored && readStoredGrant(registry.kind, stored)
  return (
    grant !== null &&
    isNameGranted(grant.operations, 'search') &&
    operationsOf(registry.kind).some(({ name }) => name === 'search')
  )
}

function exampleSearchOf(
  registry: Registry,
  { participant, kid }: { readonly participant: Participant; readonly kid: string | null },
  sample: ReturnType<PartnerDeps['sampleOf']>,
  now = new Date(),
) {
  const { namespace, kind } = registry
  const [{ name: record_type, primary_identifier }] = kind.record_types
  const query = { type: sample?.identifier_type ?? primary_identifier, value: sample?.identifier_value ?? VALUE_PLACEHOLDER }
  const question = { registry, participant, record_type, page_size: undefined, now, form: { name: 'identifier', query } } as const
  const path = `/${namespace}/v${PROTOCOL_VERSION}/${operation('search').sync_paths[0] ?? ''}`
  const { body, criteria } = makeTrialEnvelope(question)
  const shown = { namespace, registry, participant, criteria, kid, later: false }
  return {
    namespace,
    title: kind.title,
    path,
    curl: searchAsCurl(path, body),
    typescript: searchAsTypeScript({ ...question, namespace, later: false }),
    python: searchAsPython(shown),
    java: searchAsJava(shown),
  }
}
