import { api, type Schemas, told } from "../../api/client";

export type Policy = Schemas["PolicyView"];

/** Puts a changed policy in force, only if nobody else has changed it meanwhile. */
export async function putPolicy(change: (policy: Policy) => Policy): Promise<Policy> {
  const present = await told(api.GET("/api/v1/policy"));
  return told(
    api.PUT("/api/v1/policy", {
      params: { header: { "if-match": `"${present.version}"` } },
      body: change(present),
    }),
  );
}
