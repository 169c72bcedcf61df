/** Checks applications for a cash transfer and prints a decision for each. See README.md. */
import { parseArgs } from 'node:util'
import { readApplications } from './applications.ts'
import { askAtOnce, askLater } from './ask.ts'
import { check } from './check.ts'
import { readSettings } from './settings.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    async: { type: 'boolean', default: false },
    settings: { type: 'string', default: '.rollcall/demo.json' },
  },
})
const [file = `${import.meta.dirname}/applications.json`] = positionals

const applications = await readApplications(file)
const settings = await readSettings(values.settings)
const asking = values.async ? await askLater(settings) : askAtOnce(settings)
try {
  for (const { application, decision, reasons } of await check(asking.ask, applications)) {
    console.log(`${application}  ${decision}${reasons.length > 0 ? `: ${reasons.join('; ')}` : ''}`)
  }
} finally {
  await asking.close()
}
