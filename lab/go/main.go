// Clients of the lab by three libraries of Go: `LIBRARY produce|consume BOOTSTRAP TOPIC SECONDS [GROUP]`, with their own client ids.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/IBM/sarama"
	segmentio "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"
)

const every = 150 * time.Millisecond

type client interface {
	produce(topic string, until context.Context)
	consume(topic, group string, until context.Context)
}

type (
	franz []string
	plain []string
	shop  []string
)

func main() {
	words := os.Args[1:]
	brokers := strings.Split(words[2], ",")
	seconds, _ := strconv.Atoi(words[4])
	until, stop := context.WithTimeout(context.Background(), time.Duration(seconds)*time.Second)
	defer stop()
	library := map[string]client{"franz-go": franz(brokers), "kafka-go": plain(brokers), "sarama": shop(brokers)}[words[0]]
	if words[1] == "produce" {
		library.produce(words[3], until)
	} else {
		library.consume(words[3], words[5], until)
	}
}

// Something to write, until the time is over.
func records(until context.Context, write func([]byte) error) {
	for count := 0; until.Err() == nil; count++ {
		said(write([]byte(fmt.Sprintf("record %d, all is well", count))))
		time.Sleep(every)
	}
}

func said(err error) {
	if err != nil {
		fmt.Println(time.Now().UTC().Format("15:04:05.000"), err)
	}
}

func (brokers franz) produce(topic string, until context.Context) {
	writer, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.DefaultProduceTopic(topic))
	said(err)
	defer writer.Close()
	records(until, func(value []byte) error {
		return writer.ProduceSync(context.Background(), &kgo.Record{Value: value}).FirstErr()
	})
}

func (brokers franz) consume(topic, group string, until context.Context) {
	reader, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumeTopics(topic), kgo.ConsumerGroup(group))
	said(err)
	defer reader.Close()
	for until.Err() == nil {
		reader.PollFetches(until)
	}
}

func (brokers plain) produce(topic string, until context.Context) {
	writer := &segmentio.Writer{Addr: segmentio.TCP(brokers...), Topic: topic, BatchTimeout: every / 10, RequiredAcks: segmentio.RequireAll}
	defer writer.Close()
	records(until, func(value []byte) error {
		return writer.WriteMessages(context.Background(), segmentio.Message{Value: value})
	})
}

func (brokers plain) consume(topic, group string, until context.Context) {
	reader := segmentio.NewReader(segmentio.ReaderConfig{Brokers: brokers, Topic: topic, GroupID: group, MaxWait: time.Second})
	defer reader.Close()
	for until.Err() == nil {
		reader.ReadMessage(until)
	}
}

func (brokers shop) produce(topic string, until context.Context) {
	settings := sarama.NewConfig()
	settings.Producer.Return.Successes = true
	writer, err := sarama.NewSyncProducer(brokers, settings)
	said(err)
	defer writer.Close()
	records(until, func(value []byte) error {
		_, _, err := writer.SendMessage(&sarama.ProducerMessage{Topic: topic, Value: sarama.ByteEncoder(value)})
		return err
	})
}

func (brokers shop) consume(topic, group string, until context.Context) {
	settings := sarama.NewConfig()
	settings.Consumer.Offsets.Initial = sarama.OffsetOldest
	member, err := sarama.NewConsumerGroup(brokers, group, settings)
	said(err)
	defer member.Close()
	for until.Err() == nil {
		said(member.Consume(until, []string{topic}, brokers))
	}
}

func (shop) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (shop) Cleanup(sarama.ConsumerGroupSession) error { return nil }
func (shop) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for record := range claim.Messages() {
		session.MarkMessage(record, "")
	}
	return nil
}
