/** Content of the demo: a configuration file, and the names of its participants. */
import { fileURLToPath } from 'node:url'
import { type AppliedDemo, applyDemo } from '@rollcall/admin/demo/demo-directory'
import { readYaml } from '../yaml.ts'

/** The path of the configuration file with the registries and participants of the demo. */
export const DEMO_CONFIGURATION_PATH = fileURLToPath(new URL('./demo.yaml', import.meta.url))

/** The sender_ids of the participants, by their members in demo.json. */
const DEMO_SENDER_IDS = { participant: 'demo.spmis.example', restricted: 'restricted.spmis.example' } as const

type DemoConfigurationDeps = Parameters<typeof applyDemo>[0]

/**
 * Applies the demo's configuration file, which adds what the database lacks. Stored purposes, participants and grants are not
 * changed, except that a participant without an allowed callback address gets the callback settings of the file.
 */
export async function applyDemoConfiguration(deps: DemoConfigurationDeps): Promise<AppliedDemo> {
  const { value } = await readYaml(DEMO_CONFIGURATION_PATH)
  const file = value as Parameters<typeof applyDemo>[1]['file']
  return applyDemo(deps, { file, participants: DEMO_SENDER_IDS })
}
