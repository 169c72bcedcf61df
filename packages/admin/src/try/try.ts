/**
 * A search that is tried out: the message that a participant would send, and in a demo or a sandbox its answer. No
 * private key of a participant is here, so nothing is signed: the answer has the bytes to sign, and the kid of the key.
 */

import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import {
  type QueryWithForm,
  searchAsCurl,
  searchAsTypeScript,
  TRY_OUT_QUERY_FORMS,
} from '@rollcall/participants/programs/curl-and-typescript'
import { searchAsJava, searchAsPython } from '@rollcall/participants/programs/python-and-java'
import { findSigningKey } from '@rollcall/participants/store/participant-keys'
import { type JsonObject, type JsonValue, operation, PROTOCOL_VERSION } from '@rollcall/protocol'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { requireRecordType } from '@rollcall/records/registries/registry-attributes'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, flag, markPersonal, Namespace, orNull, RecordTypeName, SenderId, text } from '../members.ts'
import { requireParticipant } from '../participants/participants.ts'
import { makeTrialEnvelope, textToSign } from './envelope.ts'

/** The answer of our own listener for peers. */
export interface PeersListenerAnswer {
  readonly status: number
  readonly text: string
}

export interface PeersListenerClient {
  /** Posts a request to the listener for peers of this node; null: the node has none. */
  post(path: string, request: { readonly token: string; readonly body: string }): Promise<PeersListenerAnswer | null>
}

export interface HasTrialSearch extends HasDatabase {
  readonly ownListener: PeersListenerClient
  readonly tokens: {
    issue(owner: Pick<Participant, 'sender_id' | 'client_id' | 'environment'>): Promise<{ access_token: string }>
  }
  readonly signatureNamespaces: { readonly written: string }
  readonly now?: () => Date
}

const AnyJsonObject = (description: string) =>
  Type.Unsafe<JsonObject>(Type.Object({}, { additionalProperties: true, description }))

/** Builds a search from a form. With `send` it is also sent, but only in a demo or a sandbox. */
export const trySearch = defineAct(
  {
    name: 'try',
    approval: 'never',
    entry: 'within',
    input: closed({
      namespace: Namespace,
      sender_id: SenderId,
      record_type: Type.Optional(RecordTypeName),
      identifier: Type.Optional(
        markPersonal(
          closed({ type: text('Type of an identifier.'), value: text('Its value.') }, { description: 'Whom to find.' }),
        ),
      ),
      expression: Type.Optional(markPersonal(AnyJsonObject('Conditions by attribute, as docs/query.md describes.'))),
      predicate: Type.Optional(
        markPersonal(Type.Unsafe<JsonValue[]>(Type.Array(Type.Unknown(), { description: 'Conditions as a list.' }))),
      ),
      graphql: Type.Optional(markPersonal(text('A query as a text.'))),
      page_size: Type.Optional(Type.Integer({ minimum: 1, description: 'Records in the answer, at most.' })),
      later: Type.Optional(flag('The answer comes later, as a callback to the address of the participant (default: at once).')),
      send: Type.Optional(flag('Send it; refused unless registry and participant are of a demo or a sandbox.')),
    }),
    result: closed({
      method: text('Of the request.'),
      path: text('Path of the request, at the address that peers know.'),
      envelope: markPersonal(AnyJsonObject('The message, unsigned.')),
      body: markPersonal(text('The bytes of the unsigned message.')),
      signature: closed({
        required: flag('Whether the messages of the participant must be signed.'),
        kid: orNull(text('Of the key with which the participant signs; null: it has registered none.')),
        algorithm: orNull(text('JOSE name of its algorithm.')),
        layout: text('How its signatures are written (docs/signature.md).'),
        bytes: markPersonal(orNull(text('What is signed with that key; null: it has none.'))),
      }),
      curl: markPersonal(text('Commands for a shell that send it unsigned, with names for the secrets.')),
      typescript: markPersonal(text('The same search with @rollcall/client, which signs it.')),
      python: markPersonal(text('The same search with rollcall.py, which signs it (docs/python.md).')),
      java: markPersonal(text('The same search with Rollcall.java, which signs it (docs/java.md).')),
      can_send: flag('Whether it may be sent from here.'),
      send_problem: orNull(text('Why it may not be sent from here; null: it may.')),
      reply: markPersonal(
        orNull(
          closed({
            status: Type.Integer({ description: 'HTTP status.' }),
            body: text('The answer, as it came; with `later` the acknowledgement.'),
          }),
        ),
      ),
    }),
  },
  async (deps: HasTrialSearch, { namespace, sender_id, record_type, page_size, later = false, send = false, ...form }, enter) => {
    const { db, now = () => new Date() } = deps
    const registry = await requireRegistry(db, namespace)
    const participant = await requireParticipant(db, sender_id)
    const [type] = record_type === undefined ? registry.kind.record_types : [requireRecordType(registry, record_type)]
    const tried = requireForm(form)
    const question = { registry, participant, record_type: type.name, form: tried, page_size, now: now() }
    const { envelope, criteria, body } = makeTrialEnvelope(question)
    const { sync_paths, async_paths } = operation('search')
    const [end = ''] = later ? async_paths : sync_paths
    const path = `/${namespace}/v${PROTOCOL_VERSION}/${end}`
    const problem = findSearchSendProblem(registry, participant)
    if (send && problem !== null) throw new AdminRefusal(`send: ${problem}`, { reason: 'conflict' })
    // Without `send` nothing is sent and nothing of a record is shown, so there is no audit entry.
    await enter(send ? {} : null)
    const key = await findSigningKey(db, participant, now())
    const { layout } = participant.signature_profile
    const shown = { namespace, registry, participant, criteria, kid: key?.kid ?? null, later }
    return {
      method: 'POST',
      path,
      envelope,
      body,
      signature: {
        required: participant.signature_policy === 'required',
        kid: key?.kid ?? null,
        algorithm: key?.algorithm ?? null,
        layout,
        bytes: key === undefined ? null : await textToSign(deps, participant, key, { envelope, now: now() }),
      },
      curl: searchAsCurl(path, body),
      typescript: searchAsTypeScript({ ...question, namespace, later }),
      python: searchAsPython(shown),
      java: searchAsJava(shown),
      can_send: problem === null,
      send_problem: problem,
      reply: send ? await sendSearch(deps, { participant, path, body }) : null,
    }
  },
)

/** Finds the form of a question. @throws AdminRefusal the question has none of the forms, or several */
function requireForm(given: Readonly<Partial<Record<QueryWithForm['name'], unknown>>>): QueryWithForm {
  const [form, another] = TRY_OUT_QUERY_FORMS.filter((name) => given[name] !== undefined)
  if (form === undefined || another !== undefined) {
    throw new AdminRefusal(`give one of ${TRY_OUT_QUERY_FORMS.join(', ')}, and no other of them`)
  }
  // The cast is safe: the schema of the input has checked the value.
  return { name: form, query: given[form] as JsonValue }
}

/** Why the search may not be sent; null: it may. */
function findSearchSendProblem(registry: Registry, participant: Participant): string | null {
  if (!isDemoOrSandbox(registry)) return `the registry ${registry.namespace} is live: a search is only built there`
  if (!isDemoOrSandbox(participant)) return `${participant.sender_id} is live: nothing is sent in its name`
  if (participant.signature_policy !== 'required') return null
  return `the messages of ${participant.sender_id} must be signed, and nobody but itself has its key: a search is only built`
}

const isDemoOrSandbox = ({ demo, environment }: Pick<Registry, 'demo' | 'environment'>): boolean =>
  demo || environment === 'sandbox'

/** Sends the search. The search gets an audit entry of its own, in addition to that of the act. */
async function sendSearch(
  deps: HasTrialSearch,
  { participant, path, body }: { readonly participant: Participant; readonly path: string; readonly body: string },
) {
  const { access_token: token } = await deps.tokens.issue(participant)
  const answer = await deps.ownListener.post(path, { token, body })
  if (answer !== null) return { status: answer.status, body: answer.text }
  throw new AdminRefusal('send: this node answers no peers; ask one that does', { reason: 'conflict' })
}
