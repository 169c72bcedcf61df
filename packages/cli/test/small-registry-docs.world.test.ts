/** The commands of docs/small-registry.md that need no Debian package: npm run check:debian runs all of them, with it. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { shell, shownBlocks } from './shown-commands.ts'

const blocks = await shownBlocks('docs/small-registry.md')
const { folder, run } = shell(true)
/** The block that has this command, with the files of the machine in the folder of the test. */
const blockWith = (command: string): string =>
  (blocks.find((block) => block.includes(command)) ?? expect.fail(`no block has ${command}`)).replaceAll('/etc/rollcall/', '')

const PEOPLE = `UIN,Given Name,Family Name,DOB,Sex
8100000017,Asha,Okoro,31/12/1990,F
8100000024,Daniel,Okoro,22/03/1988,M
`

test('a mapping is proposed, the table is imported by it, and another system is added', async () => {
  await run('rollcall registry add civil')
  writeFileSync(join(folder(), 'people.csv'), PEOPLE)
  await run(blockWith('rollcall mapping propose'))
  const imported = await run(blockWith('rollcall import civil'))
  expect(imported).toMatch(/^dry run, nothing is written: 2 of 2 records can be imported into civil /m)
  expect(imported).toMatch(/^2 of 2 records are in civil: 2 new, 0 replaced /m)

  const key = 'openssl genpkey -algorithm ed25519 | openssl pkey -pubout -out spmis-public.pem'
  expect(spawnSync('sh', ['-c', key], { cwd: folder() }).status).toBe(0)
  expect(await run(blockWith('rollcall participant add'))).toMatch(/^client_secret +\S+$/m)
  expect(await run('rollcall grant explain spmis.example.org civil')).toContain('birth_date')
})
