/** Whether a registry is for tests: it is part of a demo, or in the sandbox. Acts on people may be tried there. */
import type { Answer } from '../api/client.ts'

export const isSynthetic = ({
  demo,
  environment,
}: Pick<Answer<'/admin/v1/registries/{namespace}'>, 'demo' | 'environment'>): boolean =>
  demo || environment === 'sandbox'
