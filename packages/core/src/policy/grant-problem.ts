/** A grant that is not what it must be. The message names the member and the rule. */
export class GrantProblem extends Error {
  override readonly name = 'GrantProblem'

  /** Dotted. */
  readonly member: string
  readonly rule: string

  constructor(member: string, rule: string) {
    super(`${member}: ${rule}`)
    this.member = member
    this.rule = rule
  }
}
