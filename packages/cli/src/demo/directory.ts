/** Content of the demo: a configuration file, and the names of its participants. */
import { fileURLToPath } from 'node:url'
import { applyDemo, type DemoDirectory } from '@rollcall/admin/demo/demo-directory'
import { readYaml } from '../yaml.ts'

/** The registries, people and participants of the demo, as a configuration file. */
export const DEMO_CONFIGURATION = fileURLToPath(new URL('./demo.yaml', import.meta.url))

/** Its participants, by their names in demo.json. */
const PARTICIPANTS = { participant: 'demo.spmis.example', restricted: 'restricted.spmis.example' } as const

type Deps = Parameters<typeof applyDemo>[0]

/** Applies the file unless the database has all that it names. */
export async function ensureDemoDirectory(deps: Deps): Promise<DemoDirectory> {
  const { value } = await readYaml(DEMO_CONFIGURATION)
  const file = value as Parameters<typeof applyDemo>[1]['file']
  return applyDemo(deps, { file, participants: PARTICIPANTS })
}
