/** A kind with every type of attribute, single and many, and in elements of lists: more than any kind of ours has. */
import { type Attribute, type AttributeType, type Compound, KINDS, type Kind } from '@rollcall/protocol'

const TYPES: readonly AttributeType[] = ['text', 'code', 'date', 'datetime', 'number', 'boolean']

function rows(prefix: string, more: Partial<Attribute> = {}): Attribute[] {
  return [...TYPES, 'folded' as const].map((type) => {
    const name = `${prefix}_${type}`
    const own = type === 'folded' ? ({ type: 'text', fold: true } as const) : { type }
    return { name, paths: [name, `deeper.${name}`], ...own, ...more }
  })
}

const sex: Attribute = { name: 'sex', paths: ['sex'], type: 'code', codes: 'sex' }
const stays: Compound = {
  name: 'stay',
  paths: ['stays', 'deeper.stays', ''],
  members: [
    ...rows('stay').map((member) => ({ ...member, record_paths: [`of_all.${member.name}`] })),
    { ...sex, name: 'stay_sex' },
  ],
}
const phones: Compound = {
  name: 'phone',
  paths: ['phones'],
  indexed: true,
  members: [
    { name: 'phone_number', paths: ['number', ''], type: 'text' },
    { name: 'phone_since', paths: ['since'], type: 'date' },
    { name: 'phone_count', paths: ['count'], type: 'number' },
  ],
}

const [model] = KINDS
if (model === undefined) throw new Error('no kinds')

export const everything: Kind = {
  ...model,
  name: 'everything',
  record_types: [
    {
      ...model.record_types[0],
      name: 'Thing',
      attributes: [
        sex,
        ...rows('one', { sortable: true, indexed: true }),
        ...rows('many', { many: true }),
        ...rows('indexed', { many: true, indexed: true }),
        { name: 'age', paths: [], type: 'age', since: 'one_date' },
      ],
      compounds: [stays, phones],
    },
  ],
}
