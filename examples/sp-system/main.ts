/** Checks applications for a cash transfer and prints a decision for each. See README.md. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { parseArgs } from 'node:util'
import { nodeListener } from '@rollcall/client/node'
import { readApplications } from './applications.ts'
import { askAtOnce, askLater } from './ask.ts'
import { check } from './check.ts'
import { answering, enrol, statusesOf } from './enrol.ts'
import { readSettings } from './settings.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    async: { type: 'boolean', default: false },
    enrol: { type: 'boolean', default: false },
    serve: { type: 'string' },
    settings: { type: 'string', default: '.rollcall/demo.json' },
  },
})
const [file = `${import.meta.dirname}/applications.json`] = positionals

const applications = await readApplications(file)
const settings = await readSettings(values.settings)
const asking = values.async ? await askLater(settings) : askAtOnce(settings)
const decisions = await check(asking.ask, applications).finally(() => asking.close())
for (const { application, decision, reasons } of decisions) {
  console.log(`${application}  ${decision}${reasons.length > 0 ? `: ${reasons.join('; ')}` : ''}`)
}

if (values.enrol) {
  const today = new Date().toISOString().slice(0, 10)
  for (const { application, outcome, reason } of await enrol(settings, applications, decisions, today)) {
    console.log(`${application}  ${outcome}${reason === null ? '' : `: ${reason}`}`)
  }
}

if (values.serve !== undefined) {
  const receiver = answering(settings, statusesOf(applications, decisions))
  const server = createServer(nodeListener(receiver)).listen(Number(values.serve), '127.0.0.1')
  await once(server, 'listening')
  console.log(`answers at http://127.0.0.1:${values.serve}/registry/sync/check-enrollment`)
}
