/** The steps for the participants of a configuration file. */

import type { Participant } from '@rollcall/core/model/participant'
import { checkMessagePolicy, DEFAULT_MESSAGE_POLICY, withAllowUnsignedDefault } from '@rollcall/participants/store/message-policy'
import { NO_CALLBACK_SETTINGS } from '@rollcall/participants/store/participant-callbacks'
import { addParticipant, changeParticipant } from '@rollcall/participants/store/participants'
import { isSameJson } from '../approvals/diff-lines.ts'
import { changeCallback } from '../callbacks/callbacks.ts'
import { readLimit } from '../members.ts'
import { isDemoDatabase, setParticipantStatus } from '../participants/participants.ts'
import { allowParticipantHost, changeParticipantPolicy, messagePolicyOf, removeParticipantHost } from '../participants/policy.ts'
import type { CallbackEntry, Configuration, HostEntry, ParticipantEntry } from './file.ts'
import { type NamesForGrants, planGrants } from './grants.ts'
import { planKeys } from './keys.ts'
import type { AskerFacts } from './lockout.ts'
import { participantEntry, type StoredConfiguration, type StoredParticipant } from './read.ts'
import { type ConfigStep, changedMembers, type FilePlace, refusalAt, withRefusalsAt } from './steps.ts'

export interface PlannedParticipant {
  readonly sender_id: string
  readonly steps: readonly ConfigStep[]
  /** The participant after the file is applied. */
  readonly after: AskerFacts
}

/** A new participant with its name and environment only: other members of the file are applied later. */
const newParticipant = ({ name = '', environment = 'live' }: ParticipantEntry): StoredParticipant => ({
  participant: {
    ...DEFAULT_MESSAGE_POLICY,
    id: 0,
    sender_id: '',
    client_id: '',
    name,
    status: 'active',
    environment,
    demo: false,
    max_page_size: null,
    rate_limit: null,
    concurrency_limit: null,
    max_subscriptions: null,
  },
  keys: [],
  callback: NO_CALLBACK_SETTINGS,
  grants: [],
})

/** Plans the steps for the participants of a file. @throws AdminRefusal a member of a participant is not valid */
export async function planParticipants(
  { participants: wanted = {} }: Configuration,
  stored: StoredConfiguration,
  known: NamesForGrants,
): Promise<readonly PlannedParticipant[]> {
  const planned: PlannedParticipant[] = []
  for (const [sender_id, entry] of Object.entries(wanted)) {
    const found = stored.participants.find(({ participant }) => participant.sender_id === sender_id)
    const at = ['participants', sender_id]
    const keys = await planKeys({ sender_id, wanted: entry.keys, stored, at: [...at, 'keys'] })
    const before = found ?? newParticipant(entry)
    const current = participantEntry(before, stored.registries)
    const held = before.grants
    const { environment } = before.participant
    if (entry.environment !== undefined && entry.environment !== environment) {
      const rule = 'cannot be changed here; rollcall participant promote makes a sandbox participant live'
      throw refusalAt([...at, 'environment'], rule)
    }
    const grants =
      entry.grants === undefined
        ? { steps: [], grants: held }
        : planGrants({ sender_id, environment, wanted: entry.grants, held, stored: stored.registries, known, at })
    const steps = [
      ...(found === undefined ? [makeAddStep(sender_id, entry, at)] : []),
      ...settingSteps(sender_id, entry, current, at),
      ...hostSteps(sender_id, entry.hosts, current.hosts, [...at, 'hosts']),
      ...(await policySteps(before.participant, { sender_id, ...entry }, [...at, 'policy'])),
      ...callbackSteps(sender_id, entry.callback, current.callback, [...at, 'callback']),
      ...keys.steps,
      ...grants.steps,
      ...statusSteps(sender_id, entry.status, current.status, [...at, 'status']),
    ]
    const { participant } = before
    const policy = entry.policy === undefined ? {} : withAllowUnsignedDefault(entry.policy)
    const { signature_policy, jwks_uri } = { ...participant, ...policy }
    const status = entry.status ?? participant.status
    const after = { participant: { status, signature_policy, jwks_uri }, keys: keys.keys, grants: grants.grants }
    planned.push({ sender_id, steps, after })
  }
  return planned
}

/** The step that adds a participant. Its secret is made after all steps, so it cannot be used with incomplete settings. */
function makeAddStep(sender_id: string, { name, environment }: ParticipantEntry, at: FilePlace): ConfigStep {
  if (name === undefined) throw refusalAt([...at, 'name'], 'is required for a new participant')
  return {
    at,
    change: 'add',
    from: null,
    to: { name, ...(environment !== undefined && { environment }) },
    act: 'participant add',
    make: async ({ db }) =>
      addParticipant(db, { sender_id, name, demo: await isDemoDatabase(db), ...(environment !== undefined && { environment }) }),
  }
}

const LIMIT_NAMES = ['rate_limit', 'concurrency_limit', 'max_subscriptions'] as const

type StoredParticipantEntry = ReturnType<typeof participantEntry>

/** Makes the steps that set the name and the limits of a participant. */
function settingSteps(sender_id: string, entry: ParticipantEntry, current: StoredParticipantEntry, at: FilePlace): ConfigStep[] {
  const names = ['name', 'max_page_size', ...LIMIT_NAMES] as const
  return names
    .filter((name) => entry[name] !== undefined && !isSameJson(entry[name], current[name]))
    .map((name) => {
      const { [name]: value } = entry
      const isLimit = LIMIT_NAMES.some((limit) => limit === name)
      const stored = isLimit ? readLimit(value as number | null) : value
      return {
        at: [...at, name],
        change: 'change',
        from: current[name] ?? null,
        to: value,
        act: 'participant limits',
        make: ({ db }) => changeParticipant(db, sender_id, { [name]: stored }),
      }
    })
}

function hostSteps(
  sender_id: string,
  wanted: readonly HostEntry[] | undefined,
  current: readonly HostEntry[],
  at: FilePlace,
): ConfigStep[] {
  if (wanted === undefined) return []
  const removed = current.filter(({ host }) => !wanted.some((row) => row.host === host))
  return [
    ...wanted.flatMap((row, index): ConfigStep[] => {
      if (wanted.slice(0, index).some(({ host }) => host === row.host)) {
        throw refusalAt([...at, index], 'this host stands in the list already')
      }
      const before = current.find(({ host }) => host === row.host) ?? null
      if (isSameJson(before, row)) return []
      return [
        {
          at: [...at, index],
          change: before === null ? 'add' : 'change',
          from: before,
          to: row,
          act: 'participant host allow',
          make: (deps) => allowParticipantHost(deps, { sender_id, ...row }),
        },
      ]
    }),
    ...removed.map(
      (row): ConfigStep => ({
        at,
        change: 'remove',
        from: row,
        to: null,
        act: 'participant host remove',
        make: (deps) => removeParticipantHost(deps, { sender_id, host: row.host }),
      }),
    ),
  ]
}

/** The step sets the whole policy at once: a signature_policy other than `required` is refused without allow_unsigned. */
async function policySteps(
  before: Participant,
  { sender_id, policy: wanted, hosts }: ParticipantEntry & { readonly sender_id: string },
  at: FilePlace,
): Promise<ConfigStep[]> {
  const current = messagePolicyOf(before)
  const names = wanted === undefined ? null : changedMembers(wanted, current)
  if (wanted === undefined || names === null) return []
  const outgoing = hosts ?? before.outgoing
  await withRefusalsAt(at, async () => checkMessagePolicy({ ...before, ...withAllowUnsignedDefault(wanted), outgoing }))
  return [
    {
      at,
      change: 'change',
      from: pickMembers(current, names),
      to: pickMembers(wanted, names),
      act: 'participant policy',
      make: (deps) => changeParticipantPolicy(deps, { sender_id, ...wanted }),
    },
  ]
}

function callbackSteps(
  sender_id: string,
  wanted: CallbackEntry | undefined,
  current: Required<CallbackEntry>,
  at: FilePlace,
): ConfigStep[] {
  const sorted = wanted?.allowed && { allowed: [...new Set(wanted.allowed)].sort() }
  const names = wanted === undefined ? null : changedMembers({ ...wanted, ...sorted }, current)
  if (wanted === undefined || names === null) return []
  const { allowed, ...others } = wanted
  const allow = allowed?.filter((entry) => !current.allowed.includes(entry))
  const disallow = allowed && current.allowed.filter((entry) => !allowed.includes(entry))
  return [
    {
      at,
      change: 'change',
      from: pickMembers(current, names),
      to: pickMembers(wanted, names),
      act: 'participant callback',
      make: (deps) => changeCallback(deps, { sender_id, ...others, allow, disallow }),
    },
  ]
}

function statusSteps(
  sender_id: string,
  wanted: ParticipantEntry['status'],
  current: Participant['status'],
  at: FilePlace,
): ConfigStep[] {
  if (wanted === undefined || wanted === current) return []
  return [
    {
      at,
      change: 'change',
      from: current,
      to: wanted,
      act: wanted === 'active' ? 'participant enable' : 'participant disable',
      make: (deps) => setParticipantStatus(deps, { sender_id, status: wanted }),
    },
  ]
}

const pickMembers = (entry: object, names: readonly string[]): object =>
  Object.fromEntries(Object.entries(entry).filter(([name]) => names.includes(name)))
