import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { confirm } from '../../build/confirm.ts'
import { ReleaseRefused } from '../../build/versions.ts'

const PLAN = ['Release 0.2.0:', '  commits and tags']

/** Asks on a stream that may be a terminal, which says this. Gives what was shown. */
async function asked(isTTY: boolean, answer: string | null, yes = false): Promise<string> {
  const input = Object.assign(new PassThrough(), { isTTY })
  const output = new PassThrough()
  if (answer === null) input.end()
  else input.write(`${answer}\n`)
  await confirm(PLAN, yes, { input, output })
  return String(output.read())
}

it('says what will be done, and goes on after a yes', async () => {
  expect(await asked(true, 'yes')).toBe(`${PLAN.join('\n')}\nRelease? Type yes: `)
})

it.each(['no', '', 'y', null])('changes nothing after %j', async (answer) => {
  await expect(asked(true, answer)).rejects.toThrow(new ReleaseRefused('Nothing was changed.'))
})

it('without a terminal is refused, unless the yes was given before', async () => {
  const refused = 'Nothing was changed: without a terminal that could be asked, add --yes.'
  await expect(asked(false, 'yes')).rejects.toThrow(new ReleaseRefused(refused))
  expect(await asked(false, null, true)).toBe(`${PLAN.join('\n')}\n`)
})
