/** Prisma names the members of an enum as the database's values without their spaces: `SelfUse` for `Self Use`. */
export function storedName(values: readonly string[], member: string): string {
  return values.find((value) => memberName(value) === member) ?? member
}

export function memberName(value: string): string {
  return value.replaceAll(' ', '')
}
