export async function placeholder(): Promise<void> {}
