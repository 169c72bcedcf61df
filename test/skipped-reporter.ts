/** Says at the end of a run which tests were skipped because something is missing on this machine. */
import type { Reporter, TestModule } from 'vitest/node'

export class SkippedReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) =>
      [...module.children.allTests('skipped')].flatMap((test) => {
        const result = test.result()
        return result.state === 'skipped' && result.note !== undefined ? [`${test.fullName}: ${result.note}`] : []
      }),
    )
    if (skipped.length > 0) process.stdout.write(`Skipped:\n${skipped.map((line) => `  ${line}\n`).join('')}`)
  }
}
