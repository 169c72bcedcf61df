import pg from 'pg'
import { expect, test } from 'vitest'
import { oncePerPool } from './group-commit.ts'

test('one is made for each pool, once', () => {
  let made = 0
  const numberOf = oncePerPool(() => {
    made += 1
    return made
  })
  const [one, other] = [new pg.Pool(), new pg.Pool()]
  expect([numberOf(one), numberOf(other), numberOf(one)]).toEqual([1, 2, 1])
})
