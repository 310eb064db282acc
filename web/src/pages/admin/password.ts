const LETTERS = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const LENGTH = 16;

/** A random password of letters that are not taken for each other; 93 bits. */
export function newPassword(): string {
  // 224 = 4 x 56 letters: what is above is thrown away, so that each letter is as likely as any other.
  const most = 256 - (256 % LETTERS.length);
  let password = "";
  while (password.length < LENGTH) {
    const [byte = 255] = crypto.getRandomValues(new Uint8Array(1));
    if (byte < most) password += LETTERS[byte % LETTERS.length];
  }
  return password;
}
