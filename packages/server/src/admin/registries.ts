/** The registries that are hosted here. */

import { KINDS, oneOf } from '@rollcall/protocol'
import Type from 'typebox'
import type { Registry } from '../model/registry.ts'
import { countRecords } from '../store/records/record-counts.ts'
import {
  addRegistry as addRow,
  listRegistries as listRows,
  setRegistry,
} from '../store/registries/registries.ts'
import { closed, flag, Namespace, NOTHING, text } from './members.ts'
import type { HasDatabase } from './needs.ts'
import { isDemoDatabase } from './participants.ts'
import { AdminRefusal, useCase } from './use-case.ts'

const TimeZone = text('IANA name of the time zone in which its days begin and ages are counted.')
const MajorityAge = Type.Integer({
  minimum: 1,
  maximum: 99,
  description: 'Years at which a person comes of age; grants that never find minors count by it.',
})
const Aliases = Type.Array(Type.String(), { description: 'More values of receiver_id that it accepts.' })

const REGISTRY = {
  namespace: Namespace,
  kind: oneOf(
    KINDS.map(({ name }) => name),
    { description: 'Kind of the registry.' },
  ),
  sender_id: text('Its sender_id in messages.'),
  aliases: Aliases,
  time_zone: TimeZone,
  majority_age: MajorityAge,
  demo: flag('Made for the demo.'),
} as const
const RegistryResult = closed(REGISTRY)

/** Adds a registry with its tables; a running server has it within a second. */
export const addRegistry = useCase(
  {
    input: closed({
      kind: REGISTRY.kind,
      namespace: Type.Optional(text('First segment of its paths (default: the kind).')),
      sender_id: Type.Optional(text('Its sender_id in messages (default: <namespace>.rollcall).')),
      aliases: Type.Optional(Aliases),
      time_zone: Type.Optional(TimeZone),
      majority_age: Type.Optional(MajorityAge),
    }),
    result: RegistryResult,
  },
  async (
    { db }: HasDatabase,
    {
      kind,
      namespace = kind,
      sender_id = `${namespace}.rollcall`,
      aliases = [],
      time_zone = 'UTC',
      majority_age = 18,
    },
  ) => {
    const demo = await isDemoDatabase(db)
    return described(await addRow(db, { kind, namespace, sender_id, aliases, time_zone, majority_age, demo }))
  },
)

/** Changes a registry; servers follow within a second. */
export const changeRegistry = useCase(
  {
    input: closed({
      namespace: Namespace,
      time_zone: Type.Optional(TimeZone),
      majority_age: Type.Optional(MajorityAge),
    }),
    result: RegistryResult,
  },
  async ({ db }: HasDatabase, { namespace, ...changes }) => {
    if (Object.keys(changes).length === 0)
      throw new AdminRefusal('nothing to change: give time_zone or majority_age')
    return described(await setRegistry(db, namespace, changes))
  },
)

/** Every registry, by namespace, with the number of its records. */
export const listRegistries = useCase(
  {
    input: NOTHING,
    result: Type.Array(
      closed({
        ...REGISTRY,
        records: Type.Record(Type.String(), Type.Integer(), { description: 'By record type.' }),
      }),
    ),
  },
  async ({ db }: HasDatabase) => {
    const registries = await listRows(db)
    return Promise.all(
      registries.map(async (registry) => ({
        ...described(registry),
        records: await countRecords(db, registry),
      })),
    )
  },
)

function described({ namespace, kind, sender_id, aliases, time_zone, majority_age, demo }: Registry) {
  return { namespace, kind: kind.name, sender_id, aliases, time_zone, majority_age, demo }
}
