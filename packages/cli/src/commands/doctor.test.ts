import { DATABASE_CHECKS } from '@rollcall/admin/doctor/database'
import { SETTING_CHECKS } from '@rollcall/admin/doctor/settings'
import { expect, test } from 'vitest'
import { makeWholeProgram } from '../program.ts'

test('every command that a finding names is one of ours', async () => {
  const program = await makeWholeProgram()
  for (const { command } of [...DATABASE_CHECKS, ...SETTING_CHECKS]) {
    if (command === undefined) continue
    const [before = ''] = command.split(/ (?=<|--)/)
    const [first, ...words] = before.split(' ')
    expect(first).toBe('rollcall')
    let at = program
    for (const word of words) {
      const found = at.commands.find((child) => child.name() === word)
      expect(found?.name(), command).toBe(word)
      if (found !== undefined) at = found
    }
    for (const option of command.match(/--[a-z-]+/g) ?? []) {
      expect(at.options.map(({ long }) => long)).toContain(option)
    }
  }
})
