// The certified provider of npm, as its documentation configures it; the settings come as JSON on the command line.
import Provider from "oidc-provider";

const { issuer, port, client, people } = JSON.parse(process.argv[2]);

const provider = new Provider(issuer, {
  clients: [client],
  claims: { openid: ["sub"], profile: ["preferred_username"], email: ["email"] },
  pkce: { required: () => true },
  findAccount: (_context, sub) =>
    people[sub] && { accountId: sub, claims: () => ({ sub, ...people[sub] }) },
});
provider.listen(port, "127.0.0.1");
