import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ElementPositionsByName, ObjectMembersByName } from './places.ts'

const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 3 })

test('the first element that has any of the names is found, also after elements have changed', () => {
  const puts = fc.array(fc.tuple(fc.nat(6), names))
  fc.assert(
    fc.property(fc.array(names, { maxLength: 5 }), puts, names, (elements, changes, wanted) => {
      const list = [...elements]
      const places = new ElementPositionsByName<readonly string[]>(list, (element) => element)
      for (const [place, element] of changes) {
        const at = Math.min(place, list.length)
        list[at] = element
        places.put(at, element)
      }
      const found = list.findIndex((element) => element.some((name) => wanted.includes(name)))
      expect(places.first(wanted)).toBe(found === -1 ? undefined : found)
    }),
  )
})

test('a member is found as it is written, else in its first other spelling', () => {
  const name = fc.constantFrom('sex', 'Sex', 'SEX', 'name', 'NAME')
  const steps = fc.array(fc.tuple(fc.constantFrom('set', 'delete', 'ask'), name))
  fc.assert(
    fc.property(fc.uniqueArray(name), steps, (members, changes) => {
      const spelled = new ObjectMembersByName(
        members.map((member) => [member, 1] as const),
        (one) => one.toLowerCase(),
      )
      for (const [step, asked] of changes) {
        const all = [...spelled.members.keys()]
        const other = all.find((one) => one.toLowerCase() === asked.toLowerCase())
        expect(spelled.nameOf(asked)).toBe(all.includes(asked) ? asked : (other ?? asked))
        if (step === 'set') spelled.set(asked, 1)
        if (step === 'delete') spelled.delete(asked)
      }
    }),
  )
})
