/** Every admin function that says that it may wait has a row that says when, and each row is of one. */
import { readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { ADMIN_ROUTES } from '../http/admin/routes.ts'
import { hasRole } from '../model/operator.ts'
import { APPROVAL_ACTS } from './approval-acts.ts'

test('each act has one row', async () => {
  const files = (await readdir(import.meta.dirname)).filter((name) => !name.endsWith('.test.ts'))
  const names: string[] = []
  for (const file of files) {
    const exported: object = await import(/* @vite-ignore */ `${import.meta.dirname}/${file}`)
    for (const value of Object.values(exported)) {
      if (typeof value === 'function' && 'approval' in value && typeof value.approval === 'string')
        names.push(value.approval)
    }
  }
  expect(APPROVAL_ACTS.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
  expect(new Set(names).size).toBe(names.length)
})

test('who may do an act by a call may decide about it', () => {
  const acts = new Map(APPROVAL_ACTS.map((act) => [act.name, act]))
  const others = ADMIN_ROUTES.flatMap(({ name, role, approval }) => {
    const act = approval === undefined ? undefined : acts.get(approval)
    return act === undefined || hasRole({ roles: [act.role] }, role) ? [] : [name]
  })
  expect(others).toEqual([])
})
