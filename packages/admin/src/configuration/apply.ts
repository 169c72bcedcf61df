/** Configuration as code: a file that says which registries and participants there are, and what they may do. */

import { nearestNameHint } from '@rollcall/base/shared/message-words'
import { listParticipantsWithoutSecret } from '@rollcall/participants/store/participants'
import { withSettingsLock } from '@rollcall/participants/store/session-claim'
import { pathText, validator } from '@rollcall/protocol'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import { auditAct } from '../audit/operator-entries.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, flag, NO_INPUT, orNull, SenderId, text } from '../members.ts'
import { makeClientSecret } from '../participants/participants.ts'
import { planAuthorities } from './authorities.ts'
import { Configuration, FORMAT_VERSION } from './file.ts'
import { checkUnlistedGrants } from './grants.ts'
import { canAsk } from './lockout.ts'
import { type PlannedParticipant, planParticipants } from './participants.ts'
import { planPurposes } from './purposes.ts'
import { configurationOf, readStoredConfiguration, type StoredConfiguration } from './read.ts'
import { planRegistries } from './registries.ts'
import { type ConfigStep, refusalAt, STEP_CHANGES, type StepDeps, withRefusalsAt } from './steps.ts'

export { Configuration, FORMAT_VERSION }

/**
 * Exports everything that a configuration file can contain, without secrets. Applying the export to the same database changes
 * nothing, except that participants without a secret get one.
 */
export const exportConfiguration = defineAdminFunction({ input: NO_INPUT, result: Configuration }, async ({ db }: HasDatabase) =>
  configurationOf(await readStoredConfiguration(db)),
)

const APPLY_RESULT = closed({
  changes: Type.Array(
    closed({
      at: text('Member of the file.'),
      change: Type.Enum([...STEP_CHANGES]),
      from: orNull(Type.Unknown({ description: 'As it was; null: not there.' })),
      to: orNull(Type.Unknown({ description: 'As it is now; null: not there any more.' })),
    }),
    { description: 'In the order in which they are made.' },
  ),
  applied: flag('False: nothing was changed, because it was only asked what would be.'),
  credentials: Type.Array(
    closed({
      sender_id: SenderId,
      client_id: text('What it names itself by to get an access token.'),
      client_secret: text('Its client secret. It is not stored and cannot be shown again.'),
    }),
    { description: 'Of the participants of the file that had no secret, such as new ones.' },
  ),
  unlisted: Type.Array(Type.String(), {
    description: 'Registries and participants that the file does not name. They stay as they are.',
  }),
})

/**
 * Changes the database to match a configuration file. The whole file is checked before the first change. If a change is refused
 * all the same, the changes before it stay. What matches already is not touched, so that a file can be applied again.
 */
export const applyConfiguration = defineAct(
  {
    name: 'apply',
    approval: {
      when: 'wider',
      role: 'own',
      stored: async ({ db }: StepDeps, { configuration, dry_run = false }) =>
        dry_run ? [] : (await planConfiguration({ db }, configuration)).changes,
      compare: (_, changes) =>
        changes.length === 0 ? null : { wanted: {}, lines: changes.map(({ at, from, to }) => ({ at, from, to })) },
    },
    input: closed({
      configuration: Type.Unknown({ description: 'What the file holds, as JSON.' }),
      dry_run: Type.Optional(flag('Only says what would change.')),
    }),
    result: APPLY_RESULT,
  },
  async (deps: StepDeps, { configuration, dry_run = false }, _, checkDecision) => {
    if (dry_run) return { ...(await planConfiguration(deps, configuration)), applied: false, credentials: [] }
    const wanted = parseFile(configuration)
    return withSettingsLock(deps.db, async (checkHeld) => {
      await checkDecision(deps.db)
      const planned = await planSteps(deps, wanted)
      await runSteps(planned.steps, deps, checkHeld)
      return { ...describePlan(planned), applied: true, credentials: await makeClientSecrets(deps, wanted) }
    })
  },
)

/** Returns the changes of the database that a configuration file would make. */
export const planConfiguration = async (deps: HasDatabase, configuration: unknown) =>
  describePlan(await planSteps(deps, parseFile(configuration)))

const fileValidator = validator<Configuration>(Configuration)

/**
 * Checks the parsed content of a configuration file, and returns it.
 * @throws AdminRefusal the file does not match its schema, or has a later format version
 */
function parseFile(file: unknown): Configuration {
  const version = typeof file === 'object' && file !== null && 'version' in file ? file.version : undefined
  if (typeof version === 'number' && version > FORMAT_VERSION) {
    throw refusalAt(
      ['version'],
      `this file is of format version ${version}, and this version of rollcall reads version ${FORMAT_VERSION}`,
    )
  }
  const problem = fileValidator.firstProblem(file)
  if (problem === null) return file as Configuration
  throw problem.at.length === 0
    ? new AdminRefusal(`the file ${problem.rule}`)
    : refusalAt(problem.at, `${problem.rule}${nearestNameHint(String(problem.at.at(-1)), problem.known ?? [])}`)
}

/** Makes the changes in order. @throws AdminRefusal a change was refused; the message says how many were made before */
async function runSteps(steps: readonly ConfigStep[], deps: StepDeps, checkHeld: () => Promise<void>): Promise<void> {
  const caller = { kind: 'configuration' } as const
  for (const [index, { at, act: name, registry, make: change }] of steps.entries()) {
    await checkHeld()
    await auditAct(deps, { note: `apply: ${name}`, registry })
    const before = index === 0 ? '' : `; what stands before it was changed (${index} of ${steps.length})`
    await withRefusalsAt(at, () => change({ ...deps, caller }), before)
  }
}

/** Makes secrets for the participants of the file that have none, such as new ones. */
async function makeClientSecrets({ db }: HasDatabase, { participants = {} }: Configuration) {
  const without = (await listParticipantsWithoutSecret(db)).filter(({ sender_id }) => Object.hasOwn(participants, sender_id))
  const made: Awaited<ReturnType<typeof makeClientSecret>>[] = []
  for (const { sender_id } of without) made.push(await makeClientSecret(db, sender_id))
  return made
}

interface StepPlan {
  readonly steps: readonly ConfigStep[]
  readonly unlisted: readonly string[]
}

async function planSteps({ db }: HasDatabase, wanted: Configuration): Promise<StepPlan> {
  const stored = await readStoredConfiguration(db)
  const purposes = await planPurposes(wanted, stored)
  const authorities = await planAuthorities(wanted, stored)
  const registries = planRegistries(wanted, stored.registries)
  const { kinds, environments } = registries
  const known = { kinds, environments, purposes: purposes.names, authorities: authorities.names }
  const participants = await planParticipants(wanted, stored, known)
  for (const row of stored.participants) {
    if (wanted.participants?.[row.participant.sender_id]?.grants !== undefined) continue
    checkUnlistedGrants(row, stored.registries, known)
  }
  checkSomebodyCanAsk(stored, participants)
  return {
    steps: [
      ...purposes.added,
      ...authorities.added,
      ...registries.steps,
      ...participants.flatMap(({ steps }) => steps),
      ...authorities.removed,
      ...purposes.removed,
    ],
    unlisted: namesNotInFile(wanted, stored),
  }
}

/** Refuses a file after which none of the participants that can send requests now could send them. @throws AdminRefusal */
function checkSomebodyCanAsk(stored: StoredConfiguration, planned: readonly PlannedParticipant[], now = new Date()): void {
  const able = stored.participants.filter((row) => canAsk(row, now))
  const stays = able.some(({ participant }) => {
    const found = planned.find(({ sender_id }) => sender_id === participant.sender_id)
    return found === undefined || canAsk(found.after, now)
  })
  if (able.length === 0 || stays) return
  const message =
    'this would lock everybody out: of the participants that can ask now, none would be active, have a grant with an operation, and have a key if it must sign; nothing was changed'
  throw new AdminRefusal(message, { reason: 'conflict', at: ['participants'] })
}

function namesNotInFile({ registries = {}, participants = {} }: Configuration, stored: StoredConfiguration): string[] {
  return [
    ...stored.registries
      .filter(({ namespace }) => !Object.hasOwn(registries, namespace))
      .map(({ namespace }) => `registry ${namespace}`),
    ...stored.participants
      .filter(({ participant }) => !Object.hasOwn(participants, participant.sender_id))
      .map(({ participant }) => `participant ${participant.sender_id}`),
  ]
}

const describePlan = ({ steps, unlisted }: StepPlan) => ({
  changes: steps.map(({ at, change, from, to }) => ({ at: pathText(at), change, from, to })),
  unlisted,
})
