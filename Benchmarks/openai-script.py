# SPDX-License-Identifier: Apache-2.0
"""What many people write: the vendor's client, a semaphore and tenacity. Prints what it sent and lost.

Arguments: the server's address, the file of prompts, the requests at a time, and how many times faster its time goes.
"""
import asyncio, collections, json, sys
from openai import AsyncOpenAI, DefaultAsyncHttpxClient
from tenacity import retry, stop_after_attempt, wait_random_exponential

url, prompts, concurrency, scale = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
base, _, query = url.partition("?")
statuses, gate = collections.Counter(), asyncio.Semaphore(concurrency)


async def count(response):
    statuses[response.status_code] += 1

client = AsyncOpenAI(
    base_url=base, api_key="none", default_query=dict(pair.split("=") for pair in query.split("&")),
    http_client=DefaultAsyncHttpxClient(event_hooks={"response": [count]}),
)


@retry(wait=wait_random_exponential(min=1 / scale, max=60 / scale), stop=stop_after_attempt(6))
async def complete(body):
    return await client.chat.completions.create(**body)


async def ask(body):
    async with gate:
        return await complete(body)


async def main():
    bodies = [json.loads(line)["body"] for line in open(prompts)]
    answers = await asyncio.gather(*map(ask, bodies), return_exceptions=True)
    lost = sum(isinstance(answer, Exception) for answer in answers)
    print(json.dumps({"sent": statuses.total(), "refused": statuses[429], "lost": lost}))

asyncio.run(main())
