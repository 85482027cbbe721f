// A client of the lab by KafkaJS: `produce|consume BOOTSTRAP TOPIC SECONDS [GROUP]`, with its own client id.
const { Kafka, logLevel } = require("kafkajs");

const [what, bootstrap, topic, seconds, group] = process.argv.slice(2);
const kafka = new Kafka({ brokers: bootstrap.split(","), logLevel: logLevel.INFO });
const until = Date.now() + seconds * 1000;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function produce() {
  const producer = kafka.producer();
  await producer.connect();
  for (let count = 0; Date.now() < until; count++) {
    await producer.send({ topic, messages: [{ value: `record ${count}, all is well` }] });
    await pause(150);
  }
  await producer.disconnect();
}

async function consume() {
  const consumer = kafka.consumer({ groupId: group });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({ eachMessage: async () => {} });
  await pause(until - Date.now());
  await consumer.disconnect();
}

(what === "produce" ? produce() : consume()).catch((error) => {
  console.error(error);
  process.exit(1);
});
